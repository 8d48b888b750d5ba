"""
What the numbers of groups say: pure functions of a batch of groups and its earlier snapshots.

`lag` (how far behind, and why that number), `past` (earlier samples, and members over them), `history`
(rates and time, from them), `samples` (all samples side by side), `commit_interval` (what waits for the next commit),
`capacity` (what a member can do), `diagnosis` (what is the matter), `status` (how a partition fares), `balance`
(spread, skew, floors), `ownership` (who owns what, as a fingerprint), `racks` (what crosses racks, carries and costs),
`observe` (all of it).
`docs/reference/metrics.md` defines every term.
"""
