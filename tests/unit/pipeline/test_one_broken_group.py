"""A group that is broken in any way changes nothing of what is found of the others, in every walk over groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenkeel.engine import wiring
from evenkeel.engine.adapters.recording import Recording
from evenkeel.engine.cli.lag_rows import measured
from evenkeel.engine.cli.local_mode import judge, look
from evenkeel.engine.cli.sources import SnapshotSource, from_lake, selected
from evenkeel.engine.config import Settings
from evenkeel.engine.model.cluster_snapshot import ClusterSnapshot
from evenkeel.engine.model.tables import BOOL, BYTES, INT32, MOMENT, TEXT, Kind, Table
from evenkeel.engine.pipeline.backtest import backtest
from evenkeel.engine.pipeline.evaluate_groups import judge_groups
from evenkeel.engine.report.report import report
from evenkeel.engine.snapshots import SNAPSHOT, groups_with_past
from tests.helpers.snapshots import Group, change, group, make_snapshot, member, store, topic

BROKEN = "broken"
SETTINGS = Settings(lookback=3)
SNAPSHOTS = 3

TEXTS = (None, "", "\0", "\x1b[2J", "{", "[]", "x" * 300, "orders", "classic", "Stable", "streams")
NUMBERS = (None, -1, -2, 0, 1, 3, 4, 2**31 - 1, -(2**31))
LONG = (*NUMBERS, 2**63 - 1, -(2**63))
MOMENTS = (None, datetime(1970, 1, 1, tzinfo=UTC), datetime(2262, 1, 1, tzinfo=UTC))


def values(kind: Kind) -> st.SearchStrategy[Any]:
    """What may stand in a column of some kind: anything that the kind allows."""
    if kind.of is not None:
        return st.none() | st.lists(values(kind.of), max_size=4)
    if kind == TEXT:
        return st.sampled_from(TEXTS)
    if kind == BYTES:
        return st.none() | st.binary(max_size=8)
    if kind == BOOL:
        return st.sampled_from((None, True, False))
    if kind == MOMENT:
        return st.sampled_from(MOMENTS)
    return st.sampled_from(NUMBERS if kind == INT32 else LONG)


COLUMNS = [
    (dataset, name, kind)
    for dataset in ("groups", "members", "commits")
    for name, kind in SNAPSHOT[dataset].items()
    if name not in ("snapshot_id", "cluster", "group_id")
]
"""Every column that is a group's own; a row without a group is of no group."""

Damage = tuple[str, str, Any, frozenset[int]]
"""A dataset, a column, what stands in it, and in which snapshots."""

DAMAGE: st.SearchStrategy[Damage] = st.sampled_from(COLUMNS).flatmap(
    lambda one: st.tuples(
        st.just(one[0]),
        st.just(one[1]),
        values(one[2]),
        st.frozensets(st.integers(0, SNAPSHOTS - 1), min_size=1),
    )
)


def _groups(number: int, *, with_broken: bool) -> list[Group]:
    behind = [300, 40 + 20 * number, 0, 5]
    broken = group(
        BROKEN,
        members=[
            member("b-0", ["orders"], {"orders": [0, 1]}),
            member("b-1", ["orders"], {"orders": [2, 3]}),
        ],
        lag={"orders": behind},
    )
    return [
        group("a", members=2, lag={"orders": behind}),
        *([broken] if with_broken else []),
        group("z", members=3, lag={"orders": behind, "pay": [number, 0]}),
    ]


def _snapshot(number: int, *, with_broken: bool) -> ClusterSnapshot:
    return make_snapshot(
        number=number,
        topics=[topic("orders", 4, end=1000 + 400 * number), topic("pay", 2, end=50 + number)],
        groups=_groups(number, with_broken=with_broken),
    )


def _lake(damages: tuple[Damage, ...] = (), *, with_broken: bool = True) -> Recording:
    snapshots = []
    for number in range(SNAPSHOTS):
        snapshot = _snapshot(number, with_broken=with_broken)
        for dataset, column, value, where in damages:
            if number in where:
                snapshot = change(
                    snapshot,
                    dataset,
                    lambda rows, column=column, value=value: [
                        row | {column: value} if row["group_id"] == BROKEN else row for row in rows
                    ],
                )
        snapshots.append(snapshot)
    lake = Recording()
    store(lake, *snapshots)
    return lake


def _source(lake: Recording) -> SnapshotSource:
    return from_lake(SETTINGS, lake, None, "here")


def _judged(lake: Recording) -> Any:
    return {one.advice.group: repr(one.to_json()) for one in judge(_source(lake))}


def _looked(lake: Recording) -> Any:
    found = look(_source(lake))
    return {
        one.group.group: repr(
            (one.diagnosis, one.facts, one.group.members, one.measured_group.measured.lag)
        )
        for one in found
        if one.measured_group.measured is not None
    }


def _evaluated(lake: Recording) -> Any:
    found = judge_groups(lake, SETTINGS, _source(lake).newest)
    return {name: repr(found.odd.get(name)) for name in found.listed}


def _backtested(lake: Recording) -> Any:
    told: dict[str, list[str]] = {"a": [], "z": []}
    for event in backtest(lake, wiring.scratch_history(), SETTINGS, "test"):
        names = getattr(event, "groups", None) or (event.group,)  # type: ignore[union-attr]
        for name in names:
            shown = repr((event.at, getattr(event, "title", event)))
            told.setdefault(name, []).append(shown)
    return told


def _reported(lake: Recording) -> Any:
    made_at = datetime(2026, 3, 2, tzinfo=UTC)
    fleet = report(lake, wiring.scratch_history(), SETTINGS, "test", made_at, "here")
    return {one.group_id: repr(one) for one in fleet.groups}


def _lagging(lake: Recording) -> Any:
    groups, rows = measured(_source(lake), "*")
    return {
        name: repr(
            [row for row in (*groups, *rows) if name in (row.get("group_id"), row.get("group"))]
        )
        for name in ("a", "z")
    }


def _selected(lake: Recording) -> Any:
    return {
        one.group.group: repr((one.group.members, one.group.partitions.committed, one.withheld))
        for one in selected(_source(lake), "*")
    }


WALKS: Mapping[str, Callable[[Recording], Any]] = {
    "advise": _judged,
    "whatif and racks": _looked,
    "evaluate_groups": _evaluated,
    "backtest": _backtested,
    "report": _reported,
    "lag": _lagging,
    "explain, plan and rollout": _selected,
}


def others(found: Mapping[str, Any]) -> Mapping[str, Any]:
    """What is found of the groups that are not broken."""
    return {name: one for name, one in found.items() if name != BROKEN}


@pytest.fixture(scope="module")
def expected() -> Mapping[str, Any]:
    """What each walk finds where the broken group is not there."""
    lake = _lake(with_broken=False)
    return {name: others(walk(lake)) for name, walk in WALKS.items()}


NEGATIVE: Damage = ("members", "assigned_partitions", [-1, 1], frozenset(range(SNAPSHOTS)))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["advise", "evaluate_groups"])
@pytest.mark.parametrize(
    "damage",
    [
        NEGATIVE,
        ("members", "assigned_partitions", [2**31 - 1, 4], NEGATIVE[3]),
        ("members", "assigned_topics", ["orders", "orders"], NEGATIVE[3]),
        ("commits", "partition", -1, NEGATIVE[3]),
        ("members", "member_id", None, NEGATIVE[3]),
        ("members", "member_id", None, frozenset({0})),
        ("groups", "topology", "{", NEGATIVE[3]),
        ("groups", "group_type", None, NEGATIVE[3]),
        ("groups", "group_settings", "{", NEGATIVE[3]),
        ("groups", "group_settings", "[]", NEGATIVE[3]),
        ("members", "subscription", [None, "orders"], NEGATIVE[3]),
    ],
    ids=lambda damage: f"{damage[1]}",
)
def test_what_was_tried_costs_the_others_nothing(
    expected: Mapping[str, Any], name: str, damage: Damage
) -> None:
    """Partitions that no topic has, in assignments and commits, and rows that lack what each row must have."""
    assert others(WALKS[name](_lake((damage,)))) == expected[name]


@pytest.mark.slow
@pytest.mark.parametrize("name", WALKS)
@settings(max_examples=max(5, settings().max_examples // 10))
@given(damages=st.lists(DAMAGE, min_size=1, max_size=3).map(tuple))
def test_a_broken_group_costs_the_others_nothing(
    expected: Mapping[str, Any], name: str, damages: tuple[Damage, ...]
) -> None:
    """Whatever stands in its columns, in some of the snapshots or all."""
    assert others(WALKS[name](_lake(damages))) == expected[name]


@pytest.mark.slow
@pytest.mark.parametrize("name", WALKS)
def test_a_group_that_cannot_be_read_at_all_is_left_alone(
    expected: Mapping[str, Any],
    name: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Groups are read in halves until it is alone; what can be said of it says why."""
    read = groups_with_past.batch_of_tables

    def failing(tables: Mapping[str, Table], *others: Any, **more: Any) -> Any:
        if BROKEN in tables["members"]["group_id"].to_pylist():
            raise ArithmeticError("odd")
        return read(tables, *others, **more)

    monkeypatch.setattr(groups_with_past, "batch_of_tables", failing)
    found = WALKS[name](_lake())
    assert others(found) == expected[name]
    if name in ("whatif and racks", "explain, plan and rollout"):
        assert "group broken is left out: ArithmeticError: odd\n" in capsys.readouterr().err
    if name == "advise":
        assert "it could not be measured: ArithmeticError: odd" in found[BROKEN]
    if name == "evaluate_groups":
        assert "ArithmeticError: odd" in found[BROKEN]
