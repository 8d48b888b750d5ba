"""
When a group has a problem, since when, and when it is resolved: pure functions from snapshot to snapshot. Problems of a
pipeline (`policy`) have the same lifecycle.

* `kinds`: the table of causes; `troubles`: all causes that apply to a group, the first is its diagnosis
* `deleted_groups`: groups that are missing; `details`: hosts, offsets and times that help to act
* `evaluation`: the result of one snapshot; `lifecycle`: suspected, open, resolved, by `measures`
* `habits`: what comes back like clockwork
* `silences`: groups without alerts, and why
"""
