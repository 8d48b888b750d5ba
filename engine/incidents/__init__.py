"""
When something is wrong with a group, since when, and when it is over: pure functions from snapshot to snapshot.

`judged` (what one snapshot says of a group), `conditions` (what of it somebody is woken for), `vanished` (that it is
gone), `traces` (what helps whoever is to act), `course` (suspected, open, resolved),
`quiet` (for which groups nobody is woken).
"""
