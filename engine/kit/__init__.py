"""What several strategies share, one idea per file; nothing here is a strategy."""
