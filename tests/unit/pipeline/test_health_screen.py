"""Whom a glance over whole columns calls well, the full observation calls well, too."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np
import pytest

from evenkeel.engine.adapters.recording import Recording, open_recording
from evenkeel.engine.config import Rule, Settings
from evenkeel.engine.model.tables import Numbers, Series, Table, concat_series, nulls, repeated
from evenkeel.engine.pipeline.evaluate_groups import judge_chunk
from evenkeel.engine.pipeline.health_screen import plainly_well
from evenkeel.engine.ports import Lake
from evenkeel.engine.snapshots.arrays import numbers_of
from evenkeel.engine.snapshots.groups_with_past import lookback_of
from tests.helpers.fleet import Shape, make_fleet, snapshots, write_fleet
from tests.helpers.fluid import SITUATIONS
from tests.helpers.fluid.lake import situations_lake
from tests.helpers.lake_snapshots import Taken
from tests.rebalances.truth import FOLDER

pytestmark = pytest.mark.slow

Tables = Mapping[str, Table]
SNAPSHOTS = 7
SHARE = 0.01
"""Of the rows of each table that are spoilt."""

RESETS = Settings(
    rules=(
        Rule(groups="*-*1", auto_offset_reset="earliest"),
        Rule(groups="*-*2", auto_offset_reset="latest"),
        Rule(groups="*-*3", isolation="read_committed", lag_slo_seconds=1),
    )
)


def wrongly_well(lake: Lake, settings: Settings, snapshot_id: str) -> tuple[list[str], int]:
    """Whom the glance calls well and the full observation does not, and how many it calls well."""
    lookback = lookback_of(lake, settings, snapshot_id)
    well = plainly_well(lake, settings, lookback)
    full = judge_chunk(lake, settings, lookback, sorted(well))
    return [x.group_id for x in full if x.troubles or x.recovering or not x.known], len(well)


@cache
def fleet() -> list[Taken]:
    """The snapshots of a small fleet, oldest first."""
    return list(snapshots(make_fleet(Shape(groups=150, mean=8, plain=True, snapshots=SNAPSHOTS))))


def lake_of(taken: list[Taken], tables: list[Tables]) -> tuple[Recording, str]:
    """A lake of snapshots with other tables, and the newest."""
    lake = Recording()
    for one, own in zip(taken, tables, strict=True):
        lake.write("snapshot", one.snapshot_id, own, one.facts)
    return lake, taken[-1].snapshot_id


def test_who_waits_for_a_transaction_is_looked_at() -> None:
    """What it may read is read, so only that the last stable offset stands shows that it is not well."""
    lake, ids = situations_lake(("hanging-transaction", "healthy-transactions"), 40)
    settings = Settings(rules=(Rule(groups="*", isolation="read_committed"),))

    lookback = lookback_of(lake, settings, ids[30])
    well = plainly_well(lake, settings, lookback)
    [hung] = judge_chunk(lake, settings, lookback, ["hanging-transaction"])

    assert "hanging-transaction" not in well
    assert hung.diagnosis == "hanging transaction"
    assert wrongly_well(lake, settings, ids[30])[0] == []


def test_groups_whose_members_come_and_go_are_looked_at() -> None:
    """Recorded crash loops whose group keeps up escape nobody; the groups beside them pass."""
    recording = open_recording(FOLDER / "crash-loop.evenkeel")
    newest = recording.snapshot_ids[9]

    well = plainly_well(recording, Settings(), lookback_of(recording, Settings(), newest))

    assert wrongly_well(recording, Settings(), newest)[0] == []
    assert {name.partition("-")[0] for name in well} == {"quiet"}


def test_most_that_keep_up_need_no_second_look() -> None:
    """Of the healthy situations that commit often it calls all well, and of a fleet two thirds."""
    often = {n for n, s in SITUATIONS.items() if s.healthy and s.group.commits.every < 30}
    lake, ids = situations_lake(tuple(sorted(often)))

    of_situations = plainly_well(lake, Settings(), lookback_of(lake, Settings(), ids[119]))
    lake = Recording()
    *_, newest = write_fleet(lake, make_fleet(Shape(groups=60, mean=12)))
    wrong, count = wrongly_well(lake, Settings(), newest)

    assert often <= of_situations
    assert (wrong, count > 0.6 * 60) == ([], True)


@pytest.mark.parametrize("always", [True, False], ids=["always", "at times"])
@pytest.mark.parametrize("kind", range(7))
def test_whatever_happened_to_a_fleet(kind: int, always: bool) -> None:
    """Offsets that are gone, set back or ahead, topics made anew, groups and commits that come and go, errors."""
    spoil = KINDS[kind]
    tables = []
    for number, one in enumerate(fleet()):
        own = dict(one.tables)
        spoil(own, np.random.default_rng([1, 0 if always else number]))
        tables.append(own)
    lake, newest = lake_of(fleet(), tables)
    for settings in (Settings(), RESETS):
        wrong, count = wrongly_well(lake, settings, newest)
        assert wrong == []
        assert count > 0


def _some(rows: int, rng: np.random.Generator) -> np.ndarray:
    return rng.random(rows) < SHARE


def _put(table: Table, name: str, some: np.ndarray, values: object) -> Table:
    """The table with some values of a column in place of its own; None for unknown, a text for every row."""
    own = table[name]
    if values is None:
        other: Series = nulls(len(table), own.kind)
    elif isinstance(values, str):
        other = repeated(values, len(table))
    else:
        other = Numbers(np.asarray(values), own.kind)
    rows = np.where(some, np.arange(len(table)), np.arange(len(table)) + len(table))
    return table.replaced(**{name: concat_series([other, own]).take(rows)})


def _offsets(table: Table, name: str) -> np.ndarray:
    return numbers_of(table[name]).values


def _without_rows(tables: dict[str, Table], rng: np.random.Generator) -> None:
    for name in ("groups", "commits", "members"):
        tables[name] = tables[name].filter(~_some(len(tables[name]), rng))


def _set_back(tables: dict[str, Table], rng: np.random.Generator) -> None:
    commits = tables["commits"]
    back = _offsets(commits, "committed_offset") - rng.integers(0, 500_000, len(commits))
    some = _some(len(commits), rng)
    tables["commits"] = _put(commits, "committed_offset", some, np.maximum(back, 0))


def _removed(tables: dict[str, Table], rng: np.random.Generator) -> None:
    rows = tables["partitions"]
    ends = _offsets(rows, "end_offset")
    tables["partitions"] = _put(rows, "begin_offset", _some(len(rows), rng), ends)


def _without_commits(tables: dict[str, Table], rng: np.random.Generator) -> None:
    """Of some partitions, of which the end cannot be read either in every second case."""
    commits, rows = tables["commits"], tables["partitions"]
    topics = rows["topic"].used().words
    chosen = set(rng.choice(topics, len(topics) // 20, replace=False).tolist())
    silent = set(sorted(chosen)[::2])

    def odd(table: Table, among: set[str]) -> np.ndarray:
        return table["topic"].is_in(among) & (table["partition"].values % 2 == 1)

    tables["commits"] = _put(commits, "committed_offset", odd(commits, chosen), None)
    tables["partitions"] = _put(rows, "end_offset", odd(rows, silent), None)


def _without_offsets(tables: dict[str, Table], rng: np.random.Generator) -> None:
    for column in ("end_offset", "begin_offset", "last_stable_offset", "end_at"):
        rows = tables["partitions"]
        tables["partitions"] = _put(rows, column, _some(len(rows), rng), None)


def _with_errors(tables: dict[str, Table], rng: np.random.Generator) -> None:
    for name in ("groups", "commits"):
        some = _some(len(tables[name]), rng)
        tables[name] = _put(tables[name], "error", some, "refused")
    members = tables["members"]
    tables["members"] = _put(members, "subscription", _some(len(members), rng), None)


def _with_new_topics(tables: dict[str, Table], rng: np.random.Generator) -> None:
    rows = tables["partitions"]
    topics = rows["topic"].used()
    anew = _some(len(topics.words), rng)[topics.places]
    tables["partitions"] = _put(rows, "topic_id", anew, "anew")


KINDS = (
    _without_rows,
    _set_back,
    _removed,
    _without_commits,
    _without_offsets,
    _with_errors,
    _with_new_topics,
)
