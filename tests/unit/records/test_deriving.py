"""What follows from a record's declaration."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from datetime import UTC, datetime

import pyarrow as pa
import pytest

from evenkeel.engine.model.assignments import Deployment, Feasibility, Move, Verdict
from evenkeel.engine.model.figures import Score
from evenkeel.engine.model.states import GroupType, Status
from evenkeel.engine.records import (
    AdviceRow,
    AlertRow,
    CandidateRow,
    GroupMetrics,
    IncidentCourse,
    ValidationRow,
    arrow_schema,
    blank,
    record_of,
    records_of,
    row_of,
    table_of,
    to_json,
)
from tests.helpers.incidents import course

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
    feasibility=Feasibility.CAN_RUN,
    reason="why",
    score=SCORE,
    findings=("odd",),
    moved=(Move(topic="t", partition=0, from_member="a", to_member=None),),
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
    """Nothing is lost on any of the ways a record travels: enumerations, moments, never, moves."""
    kind = type(record)
    assert record_of(kind, row_of(record)) == record
    assert record_of(kind, json.loads(json.dumps(to_json(record), allow_nan=False))) == record
    assert records_of(kind, table_of(kind, [record])) == [record]


def test_a_row_is_flat_and_plain():
    """The columns of an embedded record stand among the others; values are those of Arrow and Postgres."""
    row = row_of(SCORED)
    assert row["drain_seconds"] == math.inf
    assert (row["deployment"], type(row["deployment"])) == ("setting", str)
    assert row["moved"] == [{"topic": "t", "partition": 0, "from_member": "a", "to_member": None}]
    assert set(row) == set(arrow_schema(CandidateRow).names)


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
    assert "validation_id" not in arrow_schema(ValidationRow).names


def test_whole_numbers_take_the_bits_they_declare():
    """Counts take 32 bits, offsets 64."""
    schema = arrow_schema(GroupMetrics)
    assert schema.field("members").type == pa.int32()
    assert schema.field("total_lag").type == pa.int64()
    assert schema.field("rates_since").type == pa.timestamp("ms", tz="UTC")


def test_records_that_only_the_database_keeps_have_rows_and_json_too():
    """An advice with its moves, a message with what it says."""
    advice = AdviceRow(
        **KEYS, verdict=Verdict.SWITCH, reason="why", created_at=MOMENT, moves=SCORED.moved
    )
    assert record_of(AdviceRow, to_json(advice)) == advice
    alert = AlertRow(key="k", cluster="c", kind="advice", channel="#c", message={"lines": ["a"]})
    assert record_of(AlertRow, to_json(alert)) == alert
