from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

from slotcache import MemoryStore, TrafficRecord
from slotcache.records import read_records
from slotcache.serving.config_files import read_settings
from slotcache.serving.server import build


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


def test_server_keeps_the_traffic_record_that_is_configured(tmp_path: Path) -> None:
    library = Path(__file__).parent.parent / "domains" / "library.yaml"
    settings = read_settings(
        None,
        {
            "upstream.url": "http://localhost/v1",
            "domain": str(library),
            "record": {"where": str(tmp_path / "traffic.db")},
        },
    )
    proxy = build(settings, MemoryStore())

    async def ask() -> None:
        await proxy.cache.get("can i borrow a book")
        await proxy.cache.aclose()

    asyncio.run(ask())
    (record,) = [observer for observer in proxy.cache.core.observers if isinstance(observer, TrafficRecord)]
    record.close()
    assert [kept.text for kept in read_records(tmp_path / "traffic.db")] == ["can i borrow a book"]
