"""What pays in snapshots of a simulated group, by the steps of the pipeline; nothing of it is confirmed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from evenkeel.engine.adapters.replay import Recording
from evenkeel.engine.advice import decide
from evenkeel.engine.batch import GroupBatch
from evenkeel.engine.config import Settings
from evenkeel.engine.facts import Fact
from evenkeel.engine.figures import Forecast
from evenkeel.engine.model import Advice, Diagnosis
from evenkeel.engine.records import record_of
from evenkeel.engine.steps.candidate_rows import candidate_table
from evenkeel.engine.steps.measure import observed_of, tables_of
from evenkeel.engine.steps.measured import measured_of
from evenkeel.engine.steps.propose import propose_group
from evenkeel.engine.steps.reading import BatchWithPast, read_batch
from evenkeel.engine.steps.scored import scored
from tests.helpers.fluid.plan import Group
from tests.helpers.fluid.run import simulate
from tests.helpers.fluid.tables import snapshots
from tests.helpers.lake_snapshots import write_taken


@dataclass(frozen=True, kw_only=True)
class Decision:
    """What a group would be told of one snapshot, and the forecasts behind it by strategy, `live` among them."""

    snapshot: int
    diagnosis: Diagnosis | None
    advice: Advice
    forecasts: dict[str, Forecast | None]


def decisions(
    group: Group, numbers: Sequence[int], settings: Settings | None = None, seed: int = 7
) -> Iterator[Decision]:
    """
    Args:
        group: A group.
        numbers: Of the snapshots, ascending; each is judged by what came before it, from the first on.
        settings: The configuration.
        seed: That of the simulation.
    """
    settings, lake = settings or Settings(), Recording()
    ids = write_taken(lake, snapshots(simulate([group], numbers[-1] + 1, seed)))
    earlier: list[GroupBatch] = []
    learned: dict[str, float] = {}
    for number, snapshot_id in enumerate(ids):
        batch = read_batch(lake, settings, snapshot_id, [group.name])
        groups = BatchWithPast(batch=batch, earlier=(*earlier,), withheld={}, learned=learned)
        tables = tables_of(settings, groups, observed_of(settings, groups))
        (row,) = tables["group_metrics"].to_pylist()
        if row["commit_interval_seconds"] is not None:
            learned = {group.name: row["commit_interval_seconds"]}
        earlier = [batch, *earlier][: settings.lookback]
        if number in numbers:
            yield _decision(settings, batch, tables, number, row)


def _decision(
    settings: Settings,
    batch: GroupBatch,
    tables: Mapping[str, pa.Table],
    number: int,
    row: Mapping[str, Any],
) -> Decision:
    proposals = [
        each
        for measured in measured_of(batch, tables, {})
        for each in propose_group(settings, measured)
    ]
    name = row["group_id"]
    candidates = scored(candidate_table(proposals))[name]
    diagnosis = Diagnosis(row["diagnosis"]) if row["diagnosis"] else None
    advice = decide(
        group=name,
        candidates=candidates,
        partitions=row["partitions"] or 0,
        policy=settings.policy(row["cluster"], name),
        lag=row["total_lag"],
        arrives_per_second=row["production_per_second"],
        unknown_lag=row["unknown_lag_partitions"],
        findings=[record_of(Fact, fact) for fact in row["facts"] or ()],
        diagnosis=diagnosis,
    )
    return Decision(
        snapshot=number,
        diagnosis=diagnosis,
        advice=advice,
        forecasts={each.strategy: each.forecast for each in candidates},
    )
