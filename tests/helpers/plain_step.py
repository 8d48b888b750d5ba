"""
``python -m tests.helpers.plain_step SNAPSHOT_ID [ALSO ...]``: what Spark leaves in a run, made by the plain form.

For tests of when steps run, not of what they compute. The cluster `giant` takes as long as a large one would.
"""

from __future__ import annotations

import sys
import time

from evenkeel.engine import pipeline, wiring

GIANT_SECONDS = 10.0


def main(snapshot_id: str, *also: str) -> None:
    """Metrics and candidates of one snapshot, and the metrics of those beside it."""
    settings = wiring.settings()
    lake, made_by = wiring.lake(settings), pipeline.made_by(settings)
    if snapshot_id.startswith("giant"):
        time.sleep(GIANT_SECONDS)
    for one in (snapshot_id, *also):
        lake.write("metrics", one, pipeline.compute_metrics(lake, settings, one), made_by)
    proposed = pipeline.propose_candidates(lake, settings, snapshot_id)
    lake.write("candidates", snapshot_id, proposed, made_by)


if __name__ == "__main__":
    main(*sys.argv[1:])
