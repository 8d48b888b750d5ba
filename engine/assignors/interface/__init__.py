"""
What a strategy is, and its input: the one import that a custom strategy needs beside `evenkeel.engine.model`.

`group` holds the input as integers, `many` puts groups behind each other, `parts` takes some apart, `answers` has what
a strategy says of each, `protocol` has the shape of a strategy and its promises, `build` makes groups from names and
from snapshots, `rejoin` changes what their members come back with, and who they are.
"""

from ...model.arrays import NONE
from ...model.assignments import Assignment, Deployment
from ...model.errors import Infeasible
from .answers import Answer, Answers, answering
from .build import build_spec, spec, spec_of, specs_of
from .group import GroupSpec, once, with_lags
from .many import together
from .parts import backlogs, each, part_of, picked, put
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
    "backlogs",
    "build_spec",
    "each",
    "fresh",
    "once",
    "part_of",
    "picked",
    "put",
    "rejoining",
    "shape_problem",
    "spec",
    "spec_of",
    "specs_of",
    "together",
    "with_lags",
]
