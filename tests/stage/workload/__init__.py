"""Topics, groups and live members: one group for every state worth recognizing."""
