"""
Twins: two groups of real members read the same topics in full; one switches, the other stays.

    python -m tests.twins                         # ten pairs that switch, two that do not
    python -m tests.twins --traces FOLDER         # arrivals of real traces, a CSV file each

What the staying twin is behind is what staying brings: measured, not replayed. It is held against what evenkeel says
of it (`engine.metrics.counterfactual`) from the snapshots of the group that switched, and from those alone.

**A pair** (`plan`): members of known, unequal speed on one topic; `range` gives one of them too much. Once it is
behind, one group follows `evenkeel runbook` to the letter (`tests.helpers.applied`). In some pairs something happens
that a replay has a hard time with. In *null* pairs nobody switches: what is measured of them is the error of measuring.

**Time**: a curve's interval of five minutes takes `plan.INTERVAL` seconds, and a snapshot is taken once in each.
"""
