"""How long a run over a whole fleet takes, from the lake to Postgres, and how that grows; nothing asserts a time."""
