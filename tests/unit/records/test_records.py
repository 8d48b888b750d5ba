"""What is declared of every record."""

from __future__ import annotations

import dataclasses

import pytest

from evenkeel.engine import records
from evenkeel.engine.model.columns import columns_of, parts_of
from evenkeel.engine.model.figures import Score
from evenkeel.engine.model.states import Status
from evenkeel.engine.records import CandidateRow, GroupMetrics, PartitionMetrics

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
    of_score = {spec.name: spec.meaning for spec in columns_of(Score)}
    shared = [spec for spec in columns_of(GroupMetrics) if spec.name in of_score]
    assert len(shared) > 9
    assert all(spec.meaning is of_score[spec.name] for spec in shared)


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
