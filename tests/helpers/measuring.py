"""A group measured and replayed at once, as `compute_metrics` and `propose_candidates` do with a lake between them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from evenkeel.engine.config import Rule, Settings
from evenkeel.engine.metrics.observe import Observation
from evenkeel.engine.model.groups import GroupSnapshot
from evenkeel.engine.model.tables import Table
from evenkeel.engine.pipeline.advise import Read
from evenkeel.engine.pipeline.candidate_rows import candidate_table
from evenkeel.engine.pipeline.measure import observe_group, observed_of, tables_of
from evenkeel.engine.pipeline.propose import propose_group
from evenkeel.engine.pipeline.stored_metrics import measured_at_once
from evenkeel.engine.pipeline.whatif import SeenGroup, seen_of
from evenkeel.engine.snapshots.groups_with_past import BatchWithPast


def proposed(
    settings: Settings,
    group: GroupSnapshot,
    earlier: Sequence[GroupSnapshot] = (),
    withheld: str | None = None,
    *,
    ask_next_change: bool = True,
) -> list[dict[str, Any]]:
    """The candidate rows of a group with their moves, made from the metrics it has with its past."""
    _, [measured] = measured_at_once(settings, BatchWithPast.of(group, earlier, withheld))
    proposals = propose_group(settings, measured, ask_next_change=ask_next_change)
    rows = candidate_table(proposals).to_pylist()
    return [
        row | {"moved": [asdict(move) for move in one.moves or ()]}
        for row, one in zip(rows, proposals, strict=True)
    ]


def metric_rows(
    settings: Settings,
    group: GroupSnapshot,
    earlier: Sequence[GroupSnapshot] = (),
    withheld: str | None = None,
) -> dict[str, list[dict[str, Any]]]:
    """The metric rows of a group, by dataset."""
    past = BatchWithPast.of(group, earlier, withheld)
    tables = tables_of(settings, past, observed_of(settings, past))
    return {name: table.to_pylist() for name, table in tables.items()}


def observed(
    group: GroupSnapshot, earlier: Sequence[GroupSnapshot] = (), **rule: Any
) -> Observation:
    """What the numbers say of a group, with what a rule says of it."""
    return observe_group(Settings(rules=(Rule(**rule),)), group, earlier)


def seen(
    group: GroupSnapshot, earlier: Sequence[GroupSnapshot] = (), settings: Settings | None = None
) -> SeenGroup:
    """A group as questions about other members or partitions begin with it."""
    [found] = seen_of(settings or Settings(), BatchWithPast.of(group, earlier))
    return found


def of_tables(tables: Mapping[str, Table]) -> Read:
    """What was made of a snapshot just now, by name of the dataset."""

    def read(dataset: str, groups: Collection[str] | None, columns: Sequence[str]) -> Table:
        table = tables[dataset].select(columns)
        if groups is None:
            return table
        return table.filter(table["group_id"].is_in(groups))

    return read
