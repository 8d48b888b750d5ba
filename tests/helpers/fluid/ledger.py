"""
`python -m tests.helpers.fluid.ledger [SITUATION ...] [--seed N] [--keep]`: the ledger's page over the simulated fleet.

Situations are listened to, and where a switch is told, the group takes it up three snapshots later (`replayed`). All
that goes through the pipeline into a Postgres of its own, whose ledger is verified and printed in Markdown. What is
kept is the page in `docs/contributing/benchmarks.md`, which `made_tables` writes.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evenkeel.engine.adapters.postgres import PostgresHistory
from evenkeel.engine.adapters.recording import Recording
from evenkeel.engine.advice.ledger import verified
from evenkeel.engine.cli.views.ledger import markdown, show_chains
from evenkeel.engine.config import Settings
from evenkeel.engine.pipeline.pipeline import walk
from evenkeel.engine.snapshots import split_snapshot_id
from tests.helpers.fluid.replayed import taken_up
from tests.helpers.fluid.run import History, simulate
from tests.helpers.fluid.score import Heard
from tests.helpers.fluid.situations import SITUATIONS
from tests.helpers.fluid.tables import CLUSTER, snapshots
from tests.helpers.fluid.truth import SNAPSHOTS
from tests.helpers.lake_snapshots import write_taken
from tests.stage.postgres import throw_away_history

FILE = Path(__file__).parents[2] / "data" / "fluid-ledger.json"

HEAD = """\
`.venv/bin/python -m tests.helpers.fluid.ledger --seed 2027 --keep` simulates groups in known situations and stores them
in Postgres. They last 30 hours. Groups adopt a recommended switch after 15 minutes. Below is the output of
`evenkeel ledger`. Coverage is that of unhealthy groups."""

LENGTH = 3 * SNAPSHOTS
"""Snapshots; a switch within the first six hours is a day old at the last."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Simulate, listen, switch, store, verify, print."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.helpers.fluid.ledger", description=__doc__
    )
    parser.add_argument("situation", nargs="*", metavar="SITUATION", choices=[*SITUATIONS, []])
    parser.add_argument("--seed", type=int, default=7, help="of what arrives (7)")
    parser.add_argument("--keep", action="store_true", help=f"in {FILE.name}, for the documents")
    options = parser.parse_args(arguments)
    names = options.situation or list(SITUATIONS)
    with throw_away_history() as url:
        history = PostgresHistory(url)
        rows = stored(history, switched(names, options.seed))
        chains = verified(history.ledger())
    print(f"{markdown(rows)}\n")
    show_chains(chains)
    if options.keep:
        keep(rows, options.seed, len(names))
    return int(any(chain.finding for chain in chains))


def switched(names: Sequence[str], seed: int) -> History:
    """What becomes of situations whose groups do what they are told."""
    groups = [SITUATIONS[name].group for name in names]
    taken = taken_up(Heard.of(simulate(groups, LENGTH, seed)))
    return simulate([taken.get(group.name, group) for group in groups], LENGTH, seed)


def stored(history: PostgresHistory, happened: History) -> list[dict[str, Any]]:
    """The scores of a history, after it went through the pipeline into Postgres."""
    lake = Recording()
    ids = write_taken(lake, snapshots(happened))
    settings = Settings(digest_threshold=len(happened.groups) + 1)
    for _ in walk(lake, history, settings, CLUSTER):
        pass
    _, until = split_snapshot_id(ids[-1])
    return history.query("ledger_scores", until=until)


def keep(rows: Sequence[Mapping[str, Any]], seed: int, situations: int) -> None:
    """Keep the page of a seed, and those of other seeds that are there."""
    kept = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    kept[str(seed)] = {"situations": situations, "page": markdown(rows)}
    FILE.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def section() -> str:
    """The pages that were kept."""
    kept = json.loads(FILE.read_text(encoding="utf-8"))
    parts = [
        f"Seed {seed}, {one['situations']} situations, {one['page']}" for seed, one in kept.items()
    ]
    return "\n\n".join([HEAD, *parts]) + "\n"


if __name__ == "__main__":
    sys.exit(main())
