"""The `slotcache` command: one command a file, each imported when it is called."""

from slotcache.cli.app import main

__all__ = ["main"]
