"""
Runs expectations: reads tables of the lake and returns rows of `snapshots.VALIDATION`.

A met expectation gives one row without a group. A failed one gives a row with the reason per group that fails it, or
one row without a group if it concerns the whole snapshot. Great Expectations returns the positions of unexpected rows;
their values are read from Arrow.
"""

from __future__ import annotations

import os
import string
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa

from evenkeel.engine.adapters.arrow import to_arrow
from evenkeel.engine.assignors import RACKED, every
from evenkeel.engine.config import Settings
from evenkeel.engine.model.errors import EvenkeelError, SnapshotNotFound
from evenkeel.engine.model.tables import Table, Texts
from evenkeel.engine.model.text import and_more, one_line, shortened
from evenkeel.engine.ports import Lake
from evenkeel.engine.snapshots import (
    SNAPSHOT,
    VALIDATION,
    split_snapshot_id,
)
from evenkeel.engine.snapshots.validation import metrics_of
from evenkeel.engine.streams.settings import RackStrategy, StickyTasks
from evenkeel.expectations.frames import LISTS, Frame, snapshot_frames
from evenkeel.expectations.gx_import import configured_once, load_great_expectations

EXAMPLES = 3
"""Maximum number of rows in a reason."""

_MILD = ("info", "warning", "critical")
"""Severities, mildest first."""

_SHOWN = 80
"""Maximum number of characters of a value in a reason, because some values come from clients."""


def validate_snapshot(lake: Lake, settings: Settings, snapshot_id: str) -> Table:
    """
    Validate a snapshot.

    Args:
        lake: The lake.
        settings: `max_failed_share` is the share of failed groups above which the whole snapshot is rejected.
        snapshot_id: Id of the snapshot.

    Returns:
        Rows of `snapshots.VALIDATION`, stage `snapshot`.

    Raises:
        SnapshotNotFound: The lake doesn't have it.
    """
    load_great_expectations()
    from evenkeel.expectations.snapshot import build_suites

    manifest = lake.manifest("snapshot", snapshot_id)
    suites = build_suites(snapshot_id, manifest.rows)
    used = _used(suites) | {*LISTS}
    tables = {
        name: lake.read(name, [snapshot_id], columns=[each for each in schema if each in used])
        for name, schema in SNAPSHOT.items()
    }
    rows = check(snapshot_frames(manifest, tables), suites)
    groups = tables["groups"]["group_id"].to_pylist()
    return _results(
        snapshot_id, "snapshot", [*rows, _share(rows, groups, settings.max_failed_share)]
    )


def _used(suites: Mapping[str, Any]) -> set[str]:
    """The columns of all expectations and of the examples in their reasons."""
    from evenkeel.expectations.deciding import columns_of

    expectations = [each for suite in suites.values() for each in suite.expectations]
    shown = (name for each in expectations for name in _named(each.meta["example"]))
    return {"group_id", *shown, *(name for each in expectations for name in columns_of(each))}


def validate_metrics(lake: Lake, settings: Settings, snapshot_id: str) -> Table:
    """
    Validate the metrics of a snapshot.

    Args:
        lake: The lake.
        settings: As for `validate_snapshot`.
        snapshot_id: Id of the snapshot.

    Returns:
        Rows of `snapshots.VALIDATION`, stage `metrics`.

    Raises:
        SnapshotNotFound: The lake doesn't have the metrics.
    """
    load_great_expectations()
    from evenkeel.expectations.metrics import build_suites, metric_frames

    manifest = lake.manifest("metrics", snapshot_id)
    groups = _group_ids(lake, "groups", snapshot_id)
    frames = metric_frames(metrics_of(lake, snapshot_id), groups)
    rows = check(frames, build_suites(snapshot_id, manifest.rows))
    return _results(
        snapshot_id, "metrics", [*rows, _share(rows, groups, settings.max_failed_share)]
    )


def validate_candidates(lake: Lake, settings: Settings, snapshot_id: str) -> Table:
    """
    Validate the candidates of a snapshot.

    Args:
        lake: The lake.
        settings: As for `validate_snapshot`.
        snapshot_id: Id of the snapshot.

    Returns:
        Rows of `snapshots.VALIDATION`, stage `candidates`.

    Raises:
        SnapshotNotFound: The lake doesn't have the candidates.
    """
    load_great_expectations()
    from evenkeel.expectations.candidates import build_suites, candidate_frames

    manifest = lake.manifest("candidates", snapshot_id)
    groups = _measured(lake, snapshot_id)
    strategies = list(every())
    frames = candidate_frames(lake.read("candidates", [snapshot_id]), groups, strategies)
    of_tasks = (s.value for s in (*RackStrategy, *StickyTasks))
    known = [*strategies, *RACKED, *(name for name in of_tasks if name not in strategies)]
    rows = check(frames, build_suites(snapshot_id, manifest.rows["candidates"], known))
    share = _share(rows, groups, settings.max_failed_share)
    return _results(snapshot_id, "candidates", [*rows, share])


def _measured(lake: Lake, snapshot_id: str) -> list[str]:
    """Ids of the measured groups; without metrics, of all groups of the snapshot."""
    try:
        return _group_ids(lake, "group_metrics", snapshot_id)
    except SnapshotNotFound:
        return _group_ids(lake, "groups", snapshot_id)


def _group_ids(lake: Lake, dataset: str, snapshot_id: str) -> list[str]:
    names: list[str] = lake.read(dataset, [snapshot_id], columns=["group_id"])[
        "group_id"
    ].to_pylist()
    return names


def _results(snapshot_id: str, stage: str, rows: Sequence[Mapping[str, Any]]) -> Table:
    cluster, _ = split_snapshot_id(snapshot_id)
    key = {"snapshot_id": snapshot_id, "cluster": cluster, "stage": stage}
    return Table.from_rows([key | dict(row) for row in rows], VALIDATION)


def _share(
    rows: Sequence[Mapping[str, Any]], groups: Sequence[str], limit: float
) -> dict[str, Any]:
    """Expect a limited share of failed groups; above it, the snapshot itself is invalid."""
    withheld = {row["group_id"] for row in rows if _withholds(row)}
    fine = len(withheld) <= limit * len(groups)
    return {
        "group_id": None,
        "expectation": "groups: The share of failed groups is at most max_failed_share.",
        "severity": "critical",
        "success": fine,
        "unexpected_count": len(withheld),
        "checked_count": len(groups),
        "reason": None
        if fine
        else f"{len(withheld)} of {len(groups)} groups failed validation, more than max_failed_share={limit:g} allows",
    }


def _withholds(row: Mapping[str, Any]) -> bool:
    return row["group_id"] is not None and not row["success"] and row["severity"] == "critical"


def check(frames: Mapping[str, Frame], suites: Mapping[str, Any]) -> list[dict[str, Any]]:
    """
    Validate each frame with the suite of its name.

    Returns:
        Rows of `snapshots.VALIDATION`, without key and stage.

    Raises:
        EvenkeelError: An expectation could not be evaluated.
    """
    rows: list[dict[str, Any]] = []
    run = _runner()
    for name, frame in frames.items():
        expectations = suites[name].expectations
        met = _met(frame, expectations, run)
        others = [each for each in expectations if each.description not in met]
        results = run(frame.table, others, "COMPLETE")
        for each in expectations:
            checked = met.get(each.description)
            rows += (
                _rows(frame, results[each.description])
                if checked is None
                else [_row(frame, each, unexpected_count=0, checked_count=checked)]
            )
    return rows


def _met(frame: Frame, expectations: Sequence[Any], run: Run) -> dict[str, int]:
    """The expectations that are met for the rows that decide, with the number of rows that they are about."""
    from evenkeel.expectations.deciding import deciding

    asked = {each.description: deciding(frame.table, each) for each in expectations}
    few = {name: found for name, found in asked.items() if found is not None}
    if not few:
        return {}
    rows = np.unique(np.concatenate([each.rows for each in few.values()]))
    decided = [each for each in expectations if each.description in few]
    results = run(frame.table.take(rows), decided, "BOOLEAN_ONLY")
    return {name: each.checked for name, each in few.items() if results[name].success}


def _narrow(table: Table, columns: Collection[str]) -> pa.Table:
    """
    Selected columns in an efficient form: texts as categories, whole numbers in 64 bits.

    Great Expectations copies the whole frame for every expectation, so the frame has only the needed columns. Without
    columns it still has all rows.
    """
    narrow = {"row": pa.array(np.arange(len(table)))}
    for name in columns:
        if name not in table.columns:
            continue
        column = table[name]
        if isinstance(column, Texts):
            used = column.used()
            places = pa.array(used.places, mask=~used.known)
            narrow[name] = pa.DictionaryArray.from_arrays(places, pa.array(used.words, pa.string()))
            continue
        values = to_arrow(table.select([name]))[name]
        narrow[name] = values.cast(pa.int64()) if pa.types.is_integer(values.type) else values
    return pa.table(narrow)


Run = Callable[[Table, Sequence[Any], str], dict[str, Any]]
"""Results of expectations of a table, in a format of results, by description."""


def _runner() -> Run:
    """Runs expectations, all in one context."""
    import great_expectations as gx

    from evenkeel.expectations.deciding import columns_of

    batches = _batches()

    def run(table: Table, expectations: Sequence[Any], form: str) -> dict[str, Any]:
        if not expectations:
            return {}
        columns = {column for each in expectations for column in columns_of(each)}
        batch = batches.get_batch({"dataframe": _narrow(table, columns).to_pandas()})
        suite = gx.ExpectationSuite("frame", expectations=list(expectations))
        with configured_once():
            validated = batch.validate(suite, result_format={"result_format": form})
        return {each.expectation_config.description: each for each in validated.results}

    return run


def _batches() -> Any:
    """
    A factory of batches in an ephemeral context, without files, plots and telemetry.

    All frames share it, because a change of a context takes about 20 ms. A batch replaces the previous one.
    """
    os.environ.setdefault("GX_ANALYTICS_ENABLED", "false")
    import great_expectations as gx

    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False}
    asset = context.data_sources.add_pandas("lake").add_dataframe_asset("frames")
    return asset.add_batch_definition_whole_dataframe("all")


def _rows(frame: Frame, result: Any) -> Iterator[dict[str, Any]]:
    """The rows of an evaluated expectation."""
    config, outcome = result.expectation_config, result.result
    name = f"{frame.name}: {config.description}"
    if not result.success and "element_count" not in outcome and "observed_value" not in outcome:
        raise EvenkeelError(
            f"expectation {name!r} could not be evaluated: {_cause(result)}.",
            fix="This is a bug in evenkeel; please report it.",
        )
    row = _row(
        frame,
        config,
        success=bool(result.success),
        unexpected_count=outcome.get("unexpected_count", 0 if result.success else 1),
        checked_count=outcome.get("element_count", len(frame.table)),
    )
    if result.success:
        yield row
        return
    words, unexpected = config.meta, outcome.get("unexpected_index_list") or []
    by_group = _by_group(frame, unexpected)
    if words["rejects"] or not by_group:
        problem = words["problem"].format(observed=outcome.get("observed_value"))
        # a bad row that is no group's harms nobody
        noted = (
            {}
            if words["rejects"]
            else {"severity": min(row["severity"], "warning", key=_MILD.index)}
        )
        (reason,) = _reasons(frame, words, problem, [unexpected])
        yield row | noted | {"reason": reason}
        return
    reasons = _reasons(frame, words, words["problem"], by_group.values())
    for (group, own), reason in zip(by_group.items(), reasons, strict=True):
        yield row | {"group_id": group, "unexpected_count": len(own), "reason": reason}


def _row(frame: Frame, expectation: Any, *, success: bool = True, **counts: int) -> dict[str, Any]:
    return {
        "group_id": None,
        "expectation": f"{frame.name}: {expectation.description}",
        "severity": getattr(expectation.severity, "value", expectation.severity),
        "success": success,
        **counts,
        "reason": None,
    }


def _by_group(frame: Frame, rows: Sequence[int]) -> dict[str, list[int]]:
    """The rows by the group that they concern."""
    found: dict[str, list[int]] = {}
    for row, group in frame.groups(rows):
        found.setdefault(group, []).append(row)
    return found


def _reasons(
    frame: Frame, words: Mapping[str, Any], problem: str, rows: Collection[Sequence[int]]
) -> Iterator[str]:
    """The reason per group: `problem: example, example, example and 4 more`."""
    if not words["example"]:
        yield from [problem] * len(rows)
        return
    columns = _named(words["example"])
    shown = [row for own in rows for row in own[:EXAMPLES]]
    examples = (
        words["example"].format(**{name: _value(value) for name, value in row.items()})
        for row in frame.table.select(columns).take(shown).to_pylist()
    )
    for own in rows:
        first = ", ".join(islice(examples, min(len(own), EXAMPLES)))
        yield f"{problem}: {first}{and_more(len(own) - EXAMPLES)}" if own else problem


def _named(example: str) -> list[str]:
    """The columns that an example shows."""
    return [name for _, name, _, _ in string.Formatter().parse(example) if name]


def _value(value: Any) -> str:
    if value is None:
        return "(none)"
    return shortened(one_line(value), _SHOWN)


def _cause(result: Any) -> str:
    """The last line of an error of Great Expectations."""
    raised = result.exception_info or {}
    nested = [raised, *(v for v in raised.values() if isinstance(v, dict))]
    said = [str(one["exception_message"]) for one in nested if one.get("exception_message")]
    return one_line(" ".join(said))[:300] or "no cause given"
