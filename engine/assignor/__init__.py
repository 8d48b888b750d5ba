"""
What a strategy is, and its input: the one import that a custom strategy needs beside `evenkeel.engine.model`.

`group` holds the input as integers, `protocol` the shape of a strategy and its promises, `build` makes groups from
names and from snapshots, `rejoin` changes what their members come back with.
"""

from evenkeel.engine.assignor.build import build_spec, spec, spec_of
from evenkeel.engine.assignor.group import GroupSpec, once
from evenkeel.engine.assignor.protocol import (
    ASSIGNOR_PARTS,
    USUAL_PROMISES,
    Assignor,
    Promise,
    shape_problem,
)
from evenkeel.engine.assignor.rejoin import by_leader, fresh, rejoining

__all__ = [
    "ASSIGNOR_PARTS",
    "USUAL_PROMISES",
    "Assignor",
    "GroupSpec",
    "Promise",
    "build_spec",
    "by_leader",
    "fresh",
    "once",
    "rejoining",
    "shape_problem",
    "spec",
    "spec_of",
]
