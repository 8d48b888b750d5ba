"""The benchmark of strategies: which groups it measures, how it asks for them, and what its rows say."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evenkeel.engine.assignors import ASSIGNORS
from evenkeel.engine.cli.assign_cases import answer, read_case
from tests.benchmarks.kept import keep, load, section
from tests.benchmarks.measure import Measured
from tests.benchmarks.points import FRESH, JOINS, LEAVES, POINTS, SIZES, Point, after, before, build
from tests.benchmarks.sides import HEADINGS, Row, answers, rows
from tests.oracle.jvm import KAFKAS

POINT = Point("sticky", 3, 12, 2, (FRESH, JOINS, LEAVES), 1, 1, 4)


def _row(kafka, ours, point=POINT):
    measured = Measured(milliseconds=ours, peak_mib=2.0)
    return Row(point=point, scene=FRESH, kafka=kafka, ours=measured)


def test_every_strategy_of_kafkas_is_measured_at_every_size():
    """The table answers for each of them at each size, and no two points share a name."""
    plain = {(p.strategy, p.members, p.partitions) for p in POINTS if not p.notes}

    assert {(s, p.members, p.partitions) for s in KAFKAS for p in SIZES.values()} <= plain
    assert len({p.name for p in POINTS}) == len(POINTS)


def test_every_other_strategy_is_measured():
    """But `live`, which computes nothing."""
    assert {p.strategy for p in POINTS} >= set(ASSIGNORS) - {"live"}


def test_the_groups_of_a_point_are_alike_in_size_and_differ():
    """Each has members of its own; built again it is the same."""
    first, second = build(POINT, 0), build(POINT, 1)

    assert first == build(POINT, 0)
    assert first["members"] != second["members"]
    assert [sum(len(t["partitions"]) for t in c["topics"].values()) for c in (first, second)] == [
        12,
        12,
    ]


@pytest.mark.parametrize(
    ("scene", "members", "owned"), [(FRESH, 3, 0), (JOINS, 3, 12), (LEAVES, 2, 8)]
)
def test_a_scene_has_its_past(scene, members, owned):
    """Nobody had anything, all but the last had all of it, or the middle one has left."""
    case = build(POINT)
    past = before(case, scene)
    now = case if past is None else after(case, scene, answer(past))
    had = [len((m["user_data"] or {"owned": ()})["owned"]) for m in now["members"]]

    assert (len(had), sum(had)) == (members, owned)


@pytest.mark.parametrize("name", ["range", "fair", "balanced"])
def test_groups_asked_at_once_have_the_answers_of_each_alone(name):
    """Whether or not the strategy takes many."""
    groups = [read_case(build(replace(POINT, strategy=name), n))[0] for n in range(3)]
    alone = [ASSIGNORS[name].assign(group).owner.tolist() for group in groups]

    assert [found.owner.tolist() for found in answers(ASSIGNORS[name], groups)] == alone


def test_a_row_has_the_time_for_one_group():
    """Without a JVM there is nothing to compare with."""
    found = [*rows(POINT, java=False)]

    assert [row.scene for row in found] == [FRESH, JOINS, LEAVES]
    assert {row.ratio for row in found} == {None}
    assert {row.cells()[HEADINGS.index("Kafka ms")] for row in found} == {"-"}


@pytest.mark.parametrize(
    ("kafka", "ours", "ratio"), [(1.0, 2.0, "0.5"), (30.0, 2.0, "15"), (None, 2.0, "-")]
)
def test_a_ratio_above_one_is_faster(kafka, ours, ratio):
    """Kafka's time over ours."""
    assert _row(kafka, ours).cells()[HEADINGS.index("ratio")] == ratio


def test_kept_rows_take_the_place_of_earlier_ones(tmp_path):
    """Others stay, in the order of the points; what is no point any more goes."""
    file, point = tmp_path / "kept.json", POINTS[0]
    older, newer, other = (
        _row(k, 2.0, p) for k, p in ((1.0, point), (4.0, point), (1.0, POINTS[1]))
    )
    keep([row.cells() for row in (other, older, _row(1.0, 2.0))], file)
    keep([newer.cells()], file)

    assert load(file) == [newer.cells(), other.cells()]
    assert section(file).splitlines()[2] == "| `range` | 10 x 100 | fresh | 4 | 2 | 2 |"
