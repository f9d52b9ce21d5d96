"""The OpenAI-compatible proxy (`slotcache serve`), adapters for the libraries that bots use, and their metrics."""
