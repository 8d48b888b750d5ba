"""The benchmarks run and say what they found; how fast anything is, is not judged."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest

from evenkeel.engine.cli.cases import read_case
from tests.benchmarks import __main__ as command
from tests.benchmarks import measure as measuring
from tests.benchmarks import sides, table
from tests.benchmarks.measure import Measured, measure
from tests.benchmarks.points import (
    FRESH,
    JOINS,
    LEAVES,
    POINTS,
    THIRD,
    TWICE,
    Point,
    after,
    before,
    build,
)
from tests.benchmarks.sides import Row, rows
from tests.oracle.compare import ours
from tests.stage.process import LocalClusterError

SMALL = Point("small", "range", 4, 32, 4, {FRESH: THIRD}, 1, 1)
KAFKA_MILLISECONDS = 12.5


class FakeJvm:
    """Kafka's side: answers as ours does, and always takes as long."""

    wrong = False

    def __init__(self, heap):
        self.asked = []

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        pass

    def ask(self, case, timeout):
        """An answer, with a time where one is asked for."""
        self.asked.append(case)
        answer = json.loads(json.dumps(ours({**case, "strategy": "range"})))
        if self.wrong:
            answer["assignment"] = {}
        return {**answer, "milliseconds": KAFKA_MILLISECONDS} if "repeat" in case else answer


@pytest.fixture
def jvm(monkeypatch):
    """Kafka's side without a JVM; a test may make it answer wrongly."""
    fake = type("Jvm", (FakeJvm,), {})
    monkeypatch.setattr(sides, "Jvm", fake)
    monkeypatch.setattr(command, "ready", lambda: None)
    return fake


@pytest.fixture
def few(monkeypatch):
    """Two small points, and one without a peer."""
    large = Point("large", "range", 400, 3200, 4, {FRESH: THIRD}, 1, 1)
    monkeypatch.setattr(command, "POINTS", (SMALL, large))
    monkeypatch.setattr(command, "ALONE", (Point("dice", "random", 4, 32, 4, {FRESH: None}, 1, 1),))


def row(kafka=None, milliseconds=None, asked=THIRD, differs=""):
    """A row of SMALL."""
    mine = None if milliseconds is None else Measured(milliseconds=milliseconds, peak_mib=3.4)
    return Row(point=SMALL, scene=FRESH, asked=asked, kafka=kafka, ours=mine, differs=differs)


def test_the_points_are_those_that_speed_is_asked_of():
    """Twelve names, each with the size, the scenes and the ratios that were agreed."""
    asked = {p.name: (p.strategy, p.members, p.partitions, dict(p.asked)) for p in POINTS}

    assert len(asked) == len(POINTS) == 12
    general = 1_000, 10_000, {FRESH: TWICE, JOINS: TWICE}
    assert asked["sticky-unequal"] == ("sticky", *general)
    assert asked["cooperative-unequal"] == ("cooperative-sticky", *general)
    million = {FRESH: Fraction(1, 3), LEAVES: Fraction(1)}
    assert asked["sticky-million"] == ("sticky", 2_000, 1_000_000, million)
    assert asked["range"] == ("range", 1_000, 100_000, {FRESH: THIRD})
    assert asked["uniform"] == ("uniform", 10_000, 100_000, {FRESH: THIRD, JOINS: THIRD})
    assert {p.topics for p in POINTS if p.name.endswith("sticky-unequal")} == {1_000}
    assert min(p.partitions for p in POINTS) == 100


def test_a_group_has_the_size_it_says():
    """Members, topics and partitions are as many as named, and everybody subscribes to all."""
    group, strategy = read_case(build(SMALL))

    assert strategy == "range"
    assert (len(group.members), len(group.topics), group.partition_count) == (4, 4, 32)
    assert [len(s) for s in group.subscribers] == [4, 4, 4, 4]
    assert (len(group.racks), len(group.replica_rack)) == (0, 0)
    assert build(SMALL) == build(SMALL)


def test_unequal_subscriptions_are_five_equal_parts():
    """As in Kafka's JMH benchmarks: each fifth of the members has a fifth of the topics of its own."""
    point = Point("parts", "uniform", 10, 60, 20, {}, unequal=True)
    case = build(point)

    group, _ = read_case(case)

    assert [s.tolist() for s in group.subscribers] == [
        [t // 4 * 2, t // 4 * 2 + 1] for t in range(20)
    ]
    assert all(topic["id"] for topic in case["topics"].values())
    assert "unequal" in point.size


def test_racks_are_two_of_three():
    """Each partition has replicas on two racks, members live on all three."""
    group, _ = read_case(build(Point("racks", "range", 6, 40, 2, {}, racks=True)))

    assert np.bincount(group.member_rack).tolist() == [2, 2, 2]
    assert np.diff(group.replica_start).tolist() == [2] * 40
    assert len({tuple(pair) for pair in group.replica_rack.reshape(-1, 2).tolist()}) > 2


def test_the_newcomer_alone_knows_nothing():
    """One joins: the others tell of what they were given without it, in a generation."""
    case = build(Point("p", "cooperative-sticky", 4, 32, 4, {}))
    untouched = json.dumps(case)
    past = before(case, JOINS)
    given = {"assignment": {m["id"]: [["topic-0", n]] for n, m in enumerate(past["members"])}}

    group = after(case, JOINS, given)

    assert [m["id"] for m in past["members"]] == [m["id"] for m in case["members"][:3]]
    assert [m["owned"] for m in group["members"]] == [[["topic-0", n]] for n in range(3)] + [[]]
    assert [m["generation"] for m in group["members"]] == [1, 1, 1, None]
    assert json.dumps(case) == untouched


def test_one_leaves_and_the_others_remember():
    """One leaves: the past is that of all, and one member of the middle is gone."""
    case = build(Point("p", "sticky", 5, 10, 1, {}))
    given = {"assignment": {m["id"]: [["topic-0", n]] for n, m in enumerate(case["members"])}}

    group = after(case, LEAVES, given)

    assert before(case, LEAVES) == case
    assert before(case, FRESH) is None
    owned = [m["user_data"]["owned"] for m in group["members"]]
    assert owned == [[["topic-0", n]] for n in (0, 1, 3, 4)]


def test_both_sides_get_the_same_group(jvm):
    """Each scene has Kafka's time and ours, and the ratio of the two."""
    point = Point("p", "range", 4, 32, 4, {FRESH: THIRD, JOINS: None}, 3, 1)

    fresh, joins = rows(point)

    assert (fresh.scene, joins.scene) == (FRESH, JOINS)
    assert fresh.kafka == KAFKA_MILLISECONDS
    assert fresh.ratio == pytest.approx(KAFKA_MILLISECONDS / fresh.ours.milliseconds)
    assert (fresh.differs, joins.differs, joins.verdict) == ("", "", "-")


def test_the_reference_is_asked_as_often_as_ours(jvm, monkeypatch):
    """The timed case says how many calls count and how many warm up; the past is asked untimed."""
    started = []
    monkeypatch.setattr(sides, "Jvm", lambda heap: started.append(jvm(heap)) or started[-1])

    list(rows(Point("p", "range", 4, 32, 4, {JOINS: THIRD}, 3, 2)))
    ((past, timed),) = (one.asked for one in started)

    assert "repeat" not in past
    assert (timed["repeat"], timed["warm_up"], len(timed["members"])) == (3, 2, 4)


def test_another_answer_is_told(jvm):
    """A time for something else is no time."""
    jvm.wrong = True

    (found,) = rows(SMALL)

    assert found.verdict == "other answer"
    assert "Kafka alone has" in found.differs


def test_a_strategy_that_is_missing_has_kafkas_side_only(jvm, monkeypatch):
    """Its own cells say nothing."""
    monkeypatch.setattr(sides, "ASSIGNORS", {})

    (found,) = rows(SMALL)

    assert (found.kafka, found.ours, found.ratio, found.verdict) == (12.5, None, None, "-")
    assert table.cells(found)[-6:] == ["12.5", "-", "-", "1/3", "-", "-"]


def test_without_a_jvm_ours_is_measured_alone():
    """Where no JVM is asked, the past is our own answer."""
    (found,) = rows(Point("p", "range", 4, 32, 4, {JOINS: THIRD}, 1, 1), java=False)

    assert found.kafka is None
    assert found.ours.milliseconds > 0
    assert found.verdict == "-"


@pytest.mark.parametrize(
    ("kafka", "mine", "asked", "verdict"),
    [
        (20.0, 10.0, TWICE, "reached"),
        (19.9, 10.0, TWICE, "missed"),
        (10.0, 29.9, THIRD, "reached"),
        (10.0, 30.1, THIRD, "missed"),
        (10.0, 31.0, None, "-"),
        (None, 31.0, THIRD, "-"),
    ],
)
def test_a_ratio_is_reached_or_missed(kafka, mine, asked, verdict):
    """Kafka's time over ours, against what was asked; exactly as fast as asked is reached."""
    assert row(kafka, mine, asked).verdict == verdict


@pytest.mark.parametrize(
    ("kafka", "mine", "texts"),
    [
        (15_320.4, 1_000.0, ["15,320", "1,000", "15", "1/3", "reached", "3"]),
        (0.0663, 1.0, ["0.0663", "1", "0.066", "1/3", "missed", "3"]),
        (1_000.0, 5.0, ["1,000", "5", "200", "1/3", "reached", "3"]),
    ],
)
def test_figures_are_as_long_as_they_mean_something(kafka, mine, texts):
    """No more digits than a measurement has."""
    assert table.cells(row(kafka, mine))[-6:] == texts


def test_every_call_has_a_fresh_argument():
    """Warm-up, timed calls and the one for memory each get an argument of their own."""
    made, seen = iter(range(100)), []

    measure(seen.append, lambda: next(made), repeat=3, warm_up=2)

    assert seen == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("system", [True, False])
def test_memory_is_that_of_the_call(system, monkeypatch, tmp_path):
    """The peak is what a call takes, not what was there before; where the system does not tell, Python does."""
    if not system:
        monkeypatch.setattr(measuring, "_RESET", tmp_path / "missing" / "file")
    there = np.ones(4 << 20)

    peak = measure(lambda _: np.ones(2 << 20).sum(), lambda: None, repeat=1).peak_mib

    assert there.nbytes == 32 << 20
    assert 14 <= peak < 24


def test_the_command_prints_both_tables(jvm, few, capsys):
    """A line per scene of the points named, and those without a peer apart."""
    status = command.main(["--only", "small", "--only", "dice"])
    said = capsys.readouterr().out

    assert status == 0
    assert "reached" in said or "missed" in said
    assert said.index("no class for") < said.index("random")
    assert "large" not in said


def test_the_table_for_readme(jvm, few, capsys):
    """As Markdown: headings, rule and rows of equal width."""
    status = command.main(["--markdown", "--only", "small", "--only", "dice"])
    peers, alone = capsys.readouterr().out.strip().split("\n\n")

    assert status == 0
    assert peers.splitlines()[0].startswith("| point | strategy | members x partitions x topics |")
    assert peers.splitlines()[2].startswith("| small | range | 4 x 32 x 4 | fresh | 12.5 |")
    assert {line.count("|") for line in peers.splitlines()} == {11}
    assert alone.splitlines()[2].startswith("| random | 4 x 32 x 4 |")
    assert {line.count("|") for line in alone.splitlines()} == {5}


def test_the_command_fails_when_an_answer_differs(jvm, few, capsys):
    """Exit status 1, and what differs."""
    jvm.wrong = True

    assert command.main(["--only", "small"]) == 1
    assert "small, fresh: member" in capsys.readouterr().err


def test_without_a_compiler_the_command_says_so(few, monkeypatch, capsys):
    """Ours is measured all the same."""

    def ready():
        raise LocalClusterError("install a JDK")

    monkeypatch.setattr(command, "ready", ready)
    monkeypatch.setattr(sides, "Jvm", None)  # starting one would fail

    assert command.main(["--only", "small"]) == 0
    captured = capsys.readouterr()
    assert captured.err == "without Kafka's side: install a JDK\n"
    assert "small" in captured.out
