"""
What a strategy is, and its input: the one import that a custom strategy needs beside `evenkeel.engine.model`.

`group` holds the input as integers, `many` puts groups behind each other, `parts` takes some apart, `protocol` has the
shape of a strategy and its promises, `build` makes groups from names and from snapshots, `rejoin` changes what their
members come back with, and who they are.
"""

from ...model.arrays import NONE
from ...model.assignments import Assignment, Deployment
from ...model.errors import Infeasible
from .build import build_spec, spec, spec_of
from .group import GroupSpec, once
from .many import Answer, Answers, answering, together
from .parts import each, picked, put
from .protocol import ASSIGNOR_PARTS, USUAL_PROMISES, Assignor, Promise, shape_problem
from .rejoin import all_telling, as_read, fresh, rejoining

__all__ = [
    "ASSIGNOR_PARTS",
    "NONE",
    "USUAL_PROMISES",
    "Answer",
    "Answers",
    "Assignment",
    "Assignor",
    "Deployment",
    "GroupSpec",
    "Infeasible",
    "Promise",
    "all_telling",
    "answering",
    "as_read",
    "build_spec",
    "each",
    "fresh",
    "once",
    "picked",
    "put",
    "rejoining",
    "shape_problem",
    "spec",
    "spec_of",
    "together",
]
