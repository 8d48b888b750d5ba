"""
``python -m tests.helpers.plain_step STEP SNAPSHOT_ID [ALSO ...]``: a Spark step's results, made by the plain form.

For tests of when steps run, not of what they compute. The cluster `giant` takes as long as a large one would.
"""

from __future__ import annotations

import sys
import time

from evenkeel.engine import steps, wiring

GIANT_SECONDS = 5.0


def main(step: str, snapshot_id: str, *also: str) -> None:
    """Run one step on one snapshot, then on those beside it."""
    settings = wiring.settings()
    lake = wiring.lake(settings)
    if snapshot_id.startswith("giant"):
        time.sleep(GIANT_SECONDS)
    for one in (snapshot_id, *also):
        if step == "compute_metrics":
            steps.record_metrics(lake, one, steps.compute_metrics(lake, settings, one))
        else:
            steps.record_candidates(lake, one, steps.propose_candidates(lake, settings, one))


if __name__ == "__main__":
    main(*sys.argv[1:])
