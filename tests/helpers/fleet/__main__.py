"""
`python -m tests.helpers.fleet FOLDER SHAPE`: a fleet's lake, by the evenkeel of whatever interpreter runs this.

SHAPE is a JSON object of `Shape`'s attributes. Prints a JSON object: the newest snapshot, and how much there is.
"""

from __future__ import annotations

import json
import sys

from evenkeel.engine.adapters.lake import FileLake
from tests.helpers.fleet import Shape, make_fleet, write_fleet


def main(folder: str, shape: str) -> None:
    """Write and tell."""
    fleet = make_fleet(Shape(**json.loads(shape)))
    ids = write_fleet(FileLake(folder), fleet)
    told = {"partitions": fleet.partitions, "members": fleet.members, "newest": ids[-1]}
    print(json.dumps(told))


if __name__ == "__main__":
    main(*sys.argv[1:])
