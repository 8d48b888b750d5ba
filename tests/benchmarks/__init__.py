"""How long strategies take and what memory they need, side by side; nothing here asserts a time."""
