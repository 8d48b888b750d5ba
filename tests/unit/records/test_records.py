"""Records: what follows from their declaration."""

from __future__ import annotations

import dataclasses
import json
import math
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from evenkeel import sql
from evenkeel.engine import records
from evenkeel.engine.cli.views.columns import head
from evenkeel.engine.model import tables
from evenkeel.engine.model.assignments import Deployment, Feasibility, Move, Verdict
from evenkeel.engine.model.columns import columns_of, parts_of
from evenkeel.engine.model.figures import Score
from evenkeel.engine.model.states import GroupType, Status
from evenkeel.engine.records import (
    TABLES,
    AdviceRow,
    AlertRow,
    CandidateRow,
    GroupMetrics,
    IncidentCourse,
    PartitionMetrics,
    ValidationRow,
    blank,
    columns_of_query,
    record_of,
    records_of,
    row_of,
    schema_of,
    table_of,
    to_json,
)
from tests.helpers.incidents import course

RECORDS = [
    getattr(records, name)
    for name in records.__all__
    if dataclasses.is_dataclass(getattr(records, name))
]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.__name__)
def test_a_record_is_frozen_and_every_column_says_what_it_is(record):
    """Nobody changes one or gives it another field; each column has a comment of one line, fractions a unit."""
    assert record.__dataclass_params__.frozen
    assert "__slots__" in vars(record)
    assert len(RECORDS) > 15
    has_unit = any(spec.name == "unit" for spec in columns_of(record))
    for spec in columns_of(record):
        comment = spec.meaning.comment
        assert comment[0].isupper() or comment[0] in '"<'
        assert comment.endswith(".")
        assert "\n" not in comment
        assert spec.kind is not float or spec.meaning.unit or has_unit, spec.name


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.__name__)
def test_no_column_of_a_record_is_declared_twice(record):
    """Neither in its own fields nor in a record that stands among them."""
    names = [spec.name for spec in columns_of(record)]
    assert len(names) == len(set(names)) >= len(parts_of(record)) > 1


def test_a_metric_that_two_records_share_means_the_same():
    """What the judge says of the live assignment is described once, for group metrics and candidates."""
    of_score = {each.name: each.metadata for each in dataclasses.fields(Score)}
    records = [part.record for part in parts_of(GroupMetrics) if part.record]
    metrics = [each for record in records for each in dataclasses.fields(record)]
    shared = [each for each in metrics if each.name in of_score]
    assert len(shared) > 9
    assert all(each.metadata is of_score[each.name] for each in shared)


def test_a_column_says_its_values_where_its_type_does():
    """An enumeration need not be listed again."""
    by_name = {spec.name: spec for spec in columns_of(PartitionMetrics)}
    assert by_name["status"].values == tuple(Status)
    assert by_name["topic"].values is None


def test_what_may_be_missing_as_a_whole_may_be_null_column_by_column():
    """A candidate without score has none of its columns."""
    of_score = {spec.name for spec in columns_of(Score)}
    assert all(spec.nullable for spec in columns_of(CandidateRow) if spec.name in of_score)


def test_a_field_without_a_declaration_is_refused():
    """Whoever forgets to say what a column means learns it at once."""

    @dataclasses.dataclass(frozen=True)
    class Careless:
        lag: int

    with pytest.raises(TypeError, match=r"Careless\.lag declares no column"):
        columns_of(Careless)


MOMENT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
KEYS = {"snapshot_id": "s", "cluster": "c", "group_id": "g", "config_version": "v"}
SCORE = blank(
    Score,
    most_partitions=2,
    fewest_partitions=1,
    racks_left_out=0,
    moves=1,
    newly_owned=0,
    unowned=0,
    drain_seconds=math.inf,
)
SCORED = CandidateRow(
    **KEYS,
    strategy="sticky",
    position=3,
    deployment=Deployment.SETTING,
    feasibility=Feasibility.AVAILABLE,
    reason="why",
    score=SCORE,
    findings=("odd",),
)
ADVICE = AdviceRow(
    **KEYS,
    verdict=Verdict.SWITCH,
    reason="why",
    created_at=MOMENT,
    moves=(Move(topic="t", partition=0, from_member="a", to_member=None),),
)
METRICS = blank(
    GroupMetrics,
    **KEYS,
    group_type=GroupType.CONSUMER,
    state="Stable",
    status=Status.OK,
    findings=(),
    rates_since=MOMENT,
)


@pytest.mark.parametrize("record", [SCORED, METRICS], ids=lambda record: type(record).__name__)
def test_a_record_comes_back_from_its_row_its_json_and_its_table(record):
    """Nothing is lost on any of the ways a record travels: enumerations, moments, never."""
    kind = type(record)
    assert record_of(kind, row_of(record)) == record
    assert record_of(kind, json.loads(json.dumps(to_json(record), allow_nan=False))) == record
    assert records_of(kind, table_of(kind, [record])) == [record]


def test_a_row_is_flat_and_plain():
    """The columns of an embedded record stand among the others; values are those of Arrow and Postgres."""
    row = row_of(SCORED)
    assert row["drain_seconds"] == math.inf
    assert (row["deployment"], type(row["deployment"])) == ("setting", str)
    assert set(row) == set(schema_of(CandidateRow))
    move = {"topic": "t", "partition": 0, "from_member": "a", "to_member": None}
    assert row_of(ADVICE)["moves"] == [move]


def test_a_column_that_an_older_version_did_not_know_has_its_default():
    """What is remembered of a group outlives an update; what is there and null is no default."""
    stored = to_json(course())
    del stored["well_looks"], stored["already_so"], stored["causes"][0]["facts"]
    remembered = record_of(IncidentCourse, stored)
    assert remembered == replace(course(), causes=(replace(course().causes[0], facts=()),))
    with pytest.raises(ValueError, match="well_looks is missing"):
        record_of(IncidentCourse, stored | {"well_looks": None})
    with pytest.raises(ValueError, match="cause is missing"):
        record_of(IncidentCourse, {name: stored[name] for name in stored if name != "cause"})


def test_an_embedded_record_that_is_missing_is_null_in_every_column():
    """An infeasible candidate has no score, and none comes back."""
    row = row_of(SCORED) | dict.fromkeys(row_of(SCORE))
    found = record_of(CandidateRow, row)
    assert found.score is None
    assert row_of(found) == row


def test_what_must_be_known_is_demanded():
    """A row without it is an error that names the column."""
    with pytest.raises(ValueError, match="status is missing"):
        record_of(GroupMetrics, row_of(METRICS) | {"status": None})
    with pytest.raises(ValueError, match="is not a valid Status"):
        record_of(GroupMetrics, row_of(METRICS) | {"status": "FINE"})


def test_what_the_database_gives_is_not_in_the_lake():
    """A number that a table generates has no column in a file."""
    assert "validation_id" not in schema_of(ValidationRow)


def test_whole_numbers_take_the_bits_they_declare():
    """Counts take 32 bits, offsets 64."""
    schema = schema_of(GroupMetrics)
    kinds = [schema[name] for name in ("members", "total_lag", "rates_since")]
    assert kinds == [tables.INT32, tables.INT64, tables.MOMENT]


def test_records_that_only_the_database_keeps_have_rows_and_json_too():
    """An advice with its moves, a message with what it says."""
    assert record_of(AdviceRow, to_json(ADVICE)) == ADVICE
    alert = AlertRow(key="k", cluster="c", kind="advice", channel="#c", message={"lines": ["a"]})
    assert record_of(AlertRow, to_json(alert)) == alert


@pytest.mark.parametrize("name", sql.queries())
def test_what_null_depends_on_is_declared_beside_it(name):
    """A rule about a column that no row has would never hold."""
    declared = columns_of_query(name)
    rules = [
        where
        for spec in declared.values()
        for where in (*spec.meaning.none_where, *spec.missing_where)
    ]
    beside = {"members", "group_type", "total_lag", "largest_member_lag"}
    assert {where.other for where in rules} - beside <= declared.keys()


@pytest.mark.parametrize("name", [*sql.queries(), *sql.views()])
def test_a_file_says_of_which_columns_it_shows_what_they_mean(name):
    """Where its columns are declared is a table or a view, and each line of its own columns is read."""
    text = sql.queries()[name].text if name in sql.queries() else sql.views()[name]
    columns = sql.columns(text)
    assert columns.sources or columns.own
    assert set(columns.sources) <= TABLES.keys() | sql.views().keys()
    lines = text.partition("olumns:\n")[2].splitlines()
    listed = next((n for n, line in enumerate(lines) if not line.startswith("--   ")), 0)
    assert len(columns.own) == listed


@pytest.mark.parametrize("record", TABLES.values())
def test_two_columns_of_a_record_have_two_heads(record):
    """Nobody mistakes one for the other."""
    heads = [head(spec) for spec in columns_of(record)]
    assert sorted({one for one in heads if heads.count(one) > 1}) == []
