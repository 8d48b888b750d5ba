"""
What the numbers of groups say: pure functions of a batch of groups and its earlier snapshots.

`lag` (how far behind, and why that number), `past` (earlier samples), `history` (rates and time, from them),
`status` (how it fares), `balance` (spread, skew, floors), `racks` (what crosses racks), `money` (what that carries and
costs). `README.md` beside this file defines every term.
"""
