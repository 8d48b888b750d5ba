"""
When something is wrong with a group, since when, and when it is over: pure functions from snapshot to snapshot. What is
wrong with a pipeline (`policy`) goes through the same course.

`judgement` (what one snapshot says of a group), `kinds` (the table of what may be wrong), `troubles` (all that is wrong
with it; the first is its diagnosis), `vanished_groups` (that it is gone), `traces` (what helps whoever is to act),
`course` (suspected, open, resolved), `quiet` (for which groups nobody is woken).
"""
