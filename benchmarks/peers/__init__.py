"""slotcache beside caches that compare vectors: same encoder, same machine, same questions."""
