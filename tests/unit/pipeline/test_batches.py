"""What is said of a group does not depend on which groups are worked on beside it."""

from __future__ import annotations

from dataclasses import asdict, fields

import numpy as np
import pytest

from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.config import Rule, Settings
from evenkeel.engine.metrics.observe import observe
from evenkeel.engine.model.groups import PartitionTable
from evenkeel.engine.model.tables import Table, concat
from evenkeel.engine.pipeline import (
    groups_with_past,
    lookback_of,
    measure,
    measure_chunk,
    propose_chunk,
)
from evenkeel.engine.pipeline.measure import observe_group, observed_of, record_metrics, tables_of
from evenkeel.engine.pipeline.propose import moves_of
from evenkeel.engine.snapshots import METRICS, VALIDATION
from evenkeel.engine.snapshots.groups_with_past import BatchWithPast, read_batch, read_with_past
from tests.helpers.fleet import Shape, make_fleet, write_fleet

pytestmark = pytest.mark.slow

SETTINGS = Settings(
    lookback=4,
    rules=(
        Rule(groups="*1", auto_offset_reset="earliest", isolation="read_committed"),
        Rule(groups="*2", capacity_per_second=50.0, bytes_per_record=90),
    ),
)


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    """Sixty groups of all kinds; validation withholds every seventh in the snapshot before the newest."""
    made = FileLake(tmp_path_factory.mktemp("fleet") / "lake")
    ids = write_fleet(made, make_fleet(Shape(groups=60)))
    names = made.read("groups", [ids[-2]], columns=["group_id"])["group_id"].to_pylist()
    verdicts = [
        {
            "snapshot_id": ids[-2],
            "cluster": "fleet",
            "stage": "snapshot",
            "group_id": name,
            "expectation": "expect_column_values_to_be_between",
            "severity": "critical",
            "success": False,
            "reason": "a committed offset is negative",
        }
        for name in names[::7]
    ]
    made.write("validation", ids[-2], {"validation": Table.from_rows(verdicts, VALIDATION)}, {})
    return made


@pytest.fixture(scope="module")
def newest(lake):
    """The id of the newest snapshot."""
    return lake.snapshots("fleet")[0]


@pytest.fixture(scope="module")
def names(lake, newest):
    """Its groups."""
    return lake.read("groups", [newest], columns=["group_id"])["group_id"].to_pylist()


def test_metrics_of_a_group_are_the_same_alone_and_among_others(lake, newest, names):
    """All at once, in another order and one by one: the same rows, groups with gaps in their past included."""
    lookback = lookback_of(lake, SETTINGS, newest)
    together = measure_chunk(lake, SETTINGS, lookback, names)
    backwards = measure_chunk(lake, SETTINGS, lookback, names[::-1])
    some = names[::4]
    alone = [measure_chunk(lake, SETTINGS, lookback, [name]) for name in some]
    for dataset in METRICS:
        rows = together[dataset].to_pylist()
        own = [row for row in rows if row["group_id"] in some]
        assert own == concat([tables[dataset] for tables in alone]).to_pylist()
        assert {str(row) for row in rows} == {str(row) for row in backwards[dataset].to_pylist()}
    assert len(together["partition_metrics"]) > 4_000
    assert together["group_metrics"]["production_per_second"].null_count < len(names) / 2


def test_candidates_of_a_group_are_the_same_alone_and_among_others(lake, newest, names):
    """Rows and facts; what a strategy moves, asked alone, is as many as its row says."""
    lookback = lookback_of(lake, SETTINGS, newest)
    record_metrics(lake, newest, measure_chunk(lake, SETTINGS, lookback, names))
    some = names[:12]
    together = propose_chunk(lake, SETTINGS, newest, some, {})["candidates"].to_pylist()
    alone = [propose_chunk(lake, SETTINGS, newest, [name], {})["candidates"] for name in some]
    assert together == concat(alone).to_pylist()
    wanted = {row["group_id"]: [row["strategy"]] for row in together if row["moves"]}
    moves = moves_of(lake, SETTINGS, newest, wanted)
    rows = {(row["group_id"], row["strategy"]): row for row in together}
    assert wanted
    for name, [strategy] in wanted.items():
        row = rows[name, strategy]
        assert len(moves[name][strategy]) == row["moves"] + row["newly_owned"]


@pytest.mark.slow
def test_what_is_the_same_in_two_snapshots_is_taken_from_the_other(lake, names):
    """Assembled after a snapshot in which nothing or something else was so, a batch is what it is by itself."""
    ids = lake.snapshots("fleet", limit=9)[::2]
    others = [None, *(read_batch(lake, SETTINGS, one, names, whole=False) for one in ids)]
    taken = 0
    for one in ids:
        alone = read_batch(lake, SETTINGS, one, names, whole=False)
        for like in others:
            batch = read_batch(lake, SETTINGS, one, names, whole=False, like=like)
            taken += like is not None and batch.members is like.members
            assert [group.partitions.committed for group in batch.groups] == [
                group.partitions.committed for group in alone.groups
            ]
            assert [asdict(each) for each in batch.headers] == [
                asdict(each) for each in alone.headers
            ]
            for column in fields(PartitionTable):
                ours = getattr(batch.partitions, column.name)
                theirs = getattr(alone.partitions, column.name)
                assert (
                    np.array_equal(ours, theirs) if isinstance(ours, np.ndarray) else ours == theirs
                )
    assert 0 < taken < len(ids) ** 2


def measured(groups):
    """Their metric rows."""
    return tables_of(SETTINGS, groups, observed_of(SETTINGS, groups))


def test_groups_made_one_by_one_are_those_of_the_batch(lake, newest, names):
    """A batch of group values says what a batch read from tables says."""
    lookback = lookback_of(lake, SETTINGS, newest)
    some = names[:20]
    read = measured(read_with_past(lake, SETTINGS, lookback, some))
    singles = {each.group.group: each for each in groups_with_past(lake, SETTINGS, newest)}
    made = [measured(BatchWithPast.of(singles[name].group, singles[name].earlier)) for name in some]
    for dataset in METRICS:
        assert read[dataset].to_pylist() == concat([tables[dataset] for tables in made]).to_pylist()


def test_a_group_observed_by_itself_is_a_batch_of_one(lake, newest):
    """Its arrays follow its own partition table."""
    (single, *_) = groups_with_past(lake, SETTINGS, newest)
    seen = observe_group(SETTINGS, single.group, single.earlier)
    assert len(seen.counted) == len(single.group.partitions) > 0
    assert len(seen.findings) == 1


def test_a_group_that_cannot_be_measured_has_one_row_that_says_why(
    lake, newest, names, monkeypatch
):
    """With what the snapshot says of it; the others have the rows they would have had."""
    lookback, broken = lookback_of(lake, SETTINGS, newest), names[1]
    expected = measure_chunk(lake, SETTINGS, lookback, names[:3])["group_metrics"].to_pylist()

    def failing(batch, *others):
        if any(header.group == broken for header in batch.headers):
            raise ValueError("it is broken")
        return observe(batch, *others)

    monkeypatch.setattr(measure, "observe", failing)
    before, row, after = measure_chunk(lake, SETTINGS, lookback, names[:3])[
        "group_metrics"
    ].to_pylist()

    assert [before, after] == [expected[0], expected[2]]
    assert row["error"] == "it could not be measured: ValueError: it is broken"
    columns = ("group_id", "group_type", "state", "assignor", "config_version")
    assert [row[name] for name in columns] == [expected[1][name] for name in columns]
    assert (row["status"], row["findings"], row["total_lag"]) == ("UNKNOWN", [], None)


def test_of_stores_those_of_the_groups_are_read(lake, newest, names):
    """A Kafka Streams application's stores come with it, and nobody else's do."""
    whole = read_batch(lake, SETTINGS, newest, names)
    stores = {group.group: group.stores for group in whole.groups if group.stores is not None}
    one = min(name for name, table in stores.items() if table.topics)
    asked: list[set[str]] = []

    class Asked:
        """The lake, noting which topics are asked for."""

        def __getattr__(self, name):
            return getattr(lake, name)

        def read(self, dataset, ids, **wanted):
            asked.extend([set(wanted["topics"])] if wanted.get("topics") else [])
            return lake.read(dataset, ids, **wanted)

    (group,) = read_batch(Asked(), SETTINGS, newest, [one]).groups
    assert group.stores.topics == stores[one].topics
    assert {topic for topic in asked[0] if topic.endswith("-changelog")} == set(stores[one].topics)
    assert len({topic for table in stores.values() for topic in table.topics}) > 1
