"""
The numbers of groups: pure functions of a batch of groups and its earlier snapshots.

* `lag`: lag and its basis; `past`: earlier samples and members; `samples`: all samples in arrays
* `history`: rates and times; `commit_interval`: time between commits; `capacity`: what a member can process
* `diagnosis`: the problem of a group; `status`: the trend of a partition
* `balance`: spread, skew, lower bounds; `ownership`: the assignment as a fingerprint; `racks`: cross-rack traffic, cost
* `observe`: all of them; `forecast`: the lag of the coming hour

`docs/reference/metrics.md` defines every term.
"""
