from __future__ import annotations

import subprocess
import sys


def test_server_imports_neither_scikit_learn_nor_torch() -> None:
    script = (
        "import sys\n"
        "from slotcache.serving.config_files import read_settings\n"
        "from slotcache.serving.server import Server, build\n"
        "from slotcache.stores.memory import MemoryStore\n"
        "settings = read_settings(None, {'upstream.url': 'http://localhost/v1'})\n"
        "Server(build(settings, MemoryStore()), settings.listen)\n"
        "print(*sorted({'sklearn', 'scipy', 'torch', 'onnx', 'pandas', 'openai', 'litellm'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=60, check=True)
    assert done.stdout.strip() == b""
