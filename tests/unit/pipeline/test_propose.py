"""How strategies are replayed on a live group: with which past, how many rounds, and what is said of the answer."""

from __future__ import annotations

import pytest

from evenkeel.engine.assignors import ASSIGNORS
from evenkeel.engine.assignors.interface import GroupSpec
from evenkeel.engine.config import Rule, Settings
from evenkeel.engine.model.assignments import Assignment, Deployment
from evenkeel.engine.model.errors import Infeasible
from evenkeel.engine.model.facts import Fact, FactKind, finding
from evenkeel.engine.pipeline import replay as replaying
from evenkeel.engine.pipeline.candidate_rows import candidate_of, candidate_table
from evenkeel.engine.pipeline.propose import propose_group
from evenkeel.engine.pipeline.stored_metrics import measured_at_once
from evenkeel.engine.snapshots.groups_with_past import BatchWithPast
from tests.helpers.measuring import proposed
from tests.helpers.series import members_of, series, steadily
from tests.helpers.snapshots import group, groups, make_snapshot, member, topic


class Seen:
    """A strategy that keeps what it was asked, and answers what the group has."""

    works_on = frozenset({"partitions"})
    needs: frozenset[str] = frozenset()
    deployment = Deployment.SETTING
    source = "a test"

    def __init__(self, name: str, **answer: object) -> None:
        self.name, self.asked, self.answer = name, [], answer

    def assign(self, group: GroupSpec) -> Assignment:
        """What the group has."""
        self.asked.append(group)
        return Assignment(owner=group.owner.copy(), **self.answer)


COOPERATIVE = "cooperative-sticky"
FLAW = finding("flaw", quote="a flaw")
PROVEN = (Fact(kind=FactKind.EXACT, measure="moves", after=1, bound=1),)


def _rows(
    monkeypatch, *strategies, settings=None, sent=(None, None), ask_next_change=False, **header
):
    monkeypatch.setattr(replaying, "every", lambda: {s.name: s for s in strategies})
    members = [
        member(name, ["orders"], {"orders": partitions}, user_data=data)
        for name, partitions, data in zip("ab", ([0, 1], [2]), sent, strict=True)
    ]
    snapshot = make_snapshot(
        topics=[topic("orders", 3)], groups=[group("g", members=members, **header)]
    )
    rows = proposed(settings or Settings(), groups(snapshot)[0], ask_next_change=ask_next_change)
    return {row["strategy"]: row for row in rows}


@pytest.mark.parametrize(
    ("rule", "capacity"),
    [
        ({}, "[nan, nan]"),
        ({"capacity_per_second": 50.0}, "[50.0, 50.0]"),
    ],
)
def test_strategies_are_told_rates_sizes_and_capacities(monkeypatch, rule, capacity):
    """What members merely kept up with is how the group is dealt out, not what they can do; a rule says that."""
    seen = Seen("range")
    monkeypatch.setattr(replaying, "every", lambda: {"range": seen})
    ends = steadily([10, 2], 3)
    taken = series(members_of([0], [1]), ends, ends, assignor="range")
    settings = Settings(rules=(Rule(bytes_per_record=200, commit_interval_seconds=10.0, **rule),))

    proposed(settings, taken[-1], list(taken[-2::-1]), ask_next_change=False)

    assert seen.asked[0].rate.tolist() == [10.0, 2.0]
    assert seen.asked[0].bytes_per_record.tolist() == [200.0, 200.0]
    assert str(seen.asked[0].capacity.tolist()) == capacity


def test_a_skewed_group_is_balanced_by_what_arrives_and_what_members_can_do():
    """One member is asked for more than it can do; balanced says how busy the busiest would be,
    which works off what waits besides."""
    ends, committed = steadily([30, 30, 5], 4), steadily([25, 25, 5], 4)
    taken = series(members_of([0, 1], [2]), ends, committed, assignor="range")
    settings = Settings(rules=(Rule(capacity_per_second=50.0, commit_interval_seconds=10.0),))

    rows = proposed(settings, taken[-1], list(taken[-2::-1]), ask_next_change=False)

    (row,) = [row for row in rows if row["strategy"] == "balanced"]
    behind = "the backlog of 2 partitions counts as work of the coming hour"
    proof = f"exact (busiest member at 72.5% of its capacity); {behind}"
    assert (row["moves"], row["proof"]) == (1, proof)


@pytest.mark.parametrize(
    ("header", "strategy", "replay"),
    [
        ({"group_type": "classic", "assignor": "range"}, "range", "next rebalance"),
        ({"group_type": "classic", "assignor": "range"}, "sticky", "fresh assignment"),
        ({"group_type": "consumer", "assignor": "range"}, "uniform", "next rebalance"),
        ({"group_type": "consumer", "assignor": "uniform"}, "uniform", "next rebalance"),
        ({"group_type": "consumer", "assignor": "uniform"}, "sticky", "fresh assignment"),
    ],
)
def test_members_report_what_they_own_unless_they_would_have_restarted(
    monkeypatch, header, strategy, replay
):
    """The elected strategy sees the present; a switch of client strategies forgets it, a broker does not."""
    seen = Seen(strategy)

    row = _rows(monkeypatch, seen, **header)[strategy]

    owned = seen.asked[0].owned_partition.tolist()
    assert (row["replay"], owned) == (replay, [0, 1, 2] if replay == "next rebalance" else [])
    assert seen.asked[0].owner.tolist() == [0, 0, 1]


@pytest.mark.parametrize(
    ("header", "running", "unknown"),
    [
        ({"group_type": "classic", "assignor": "range"}, {"range"}, set()),
        ({"group_type": "consumer", "assignor": "range"}, {"range-server"}, set()),
        ({"group_type": "consumer", "assignor": "uniform"}, {"uniform"}, set()),
        ({"group_type": "classic", "assignor": "lag"}, {"lag-aware"}, set()),
        ({"group_type": "classic", "assignor": "own"}, {"own"}, set()),
        ({"group_type": "classic", "assignor": "acme"}, set(), {"own"}),
        ({"group_type": "classic", "assignor": None}, set(), {"range", "own"}),
    ],
)
def test_what_runs_is_told_by_our_names(monkeypatch, header, running, unknown):
    """A group's wire name leads to one of our strategies; what name a custom one has there, only its class knows."""
    names = ("live", "range", "range-server", "uniform", "lag-aware", "own")
    strategies = [Seen(name) for name in names]

    rows = _rows(monkeypatch, *strategies, **header)

    told = {name: row["is_running"] for name, row in rows.items()}
    assert {name for name, so in told.items() if so} == running
    assert {name for name, so in told.items() if so is None} >= unknown


@pytest.mark.parametrize(("kind", "assignor"), [("consumer", "uniform"), ("classic", "range")])
def test_ours_for_brokers_is_asked_where_they_assign(monkeypatch, kind, assignor):
    """Where a leader assigns it stands on the scoreboard without an answer."""
    ours = Seen("racks-server")

    row = _rows(monkeypatch, ours, group_type=kind, assignor=assignor)["racks-server"]

    assert bool(ours.asked) == (kind == "consumer")
    assert (row["feasibility"] == "not applicable") == (kind == "classic")
    assert row["reason"].startswith("classic group: its leader") == (kind == "classic")


def test_who_must_give_up_gives_up_what_its_coordinator_walks_last():
    """Of a KIP-848 member with too many the uniform assignor takes the last ones of its target as brokers list it."""
    walked = [0, 16, 1, 17, 2, 3, 4, 5, 6, 7, 15]
    members = [member("c", ["t"], {"t": walked}), member("d", ["t"])]
    described = group("g", members=members, group_type="consumer", assignor="uniform")
    [live] = groups(make_snapshot(topics=[topic("t", 18)], groups=[described]))

    [row] = [
        r for r in proposed(Settings(), live, ask_next_change=False) if r["strategy"] == "uniform"
    ]

    assert [m["partition"] for m in row["moved"] if m["from_member"] == "c"] == [7, 15]


@pytest.mark.parametrize(
    ("listed", "owned_start", "replay"),
    [
        ({"*": (COOPERATIVE,)}, [0, 2, 3], "next rebalance"),
        ({"a": (COOPERATIVE, "range"), "b": (COOPERATIVE,)}, [0, 0, 1], "next rebalance"),
        ({"*": (COOPERATIVE, "range")}, [0, 0, 0], "fresh assignment"),
    ],
)
def test_members_that_an_eager_strategy_makes_forget_report_nothing(
    monkeypatch, listed, owned_start, replay
):
    """What configuration says of the lists decides whose past a cooperative strategy sees."""
    seen = Seen(COOPERATIVE)
    settings = Settings(rules=(Rule(assignors=listed),))

    row = _rows(monkeypatch, seen, settings=settings, group_type="classic", assignor=COOPERATIVE)[
        COOPERATIVE
    ]

    assert (seen.asked[0].owned_start.tolist(), row["replay"]) == (owned_start, replay)


def test_what_is_wrong_and_what_is_proven_stand_in_the_row(monkeypatch):
    """Findings and proof of an answer are stored with it, and read back."""
    flawed, proven = Seen("flawed", findings=(FLAW,)), Seen("proven", proof=PROVEN)

    rows = _rows(monkeypatch, flawed, proven)

    assert (rows["flawed"]["findings"], rows["flawed"]["proof"]) == (["a flaw"], None)
    assert (rows["proven"]["findings"], rows["proven"]["proof"]) == ([], "exact")
    assert candidate_of(rows["flawed"]).findings == (FLAW,)
    assert candidate_of(rows["proven"]).proof == PROVEN


@pytest.mark.parametrize(
    ("owned", "counts"),
    [
        ({"a": range(4), "b": [4], "c": [5]}, {"live": "4/1/1", "range": "2/2/2"}),
        ({"a": [0, 1], "b": [2, 3], "c": [4, 5]}, {}),
    ],
)
def test_how_many_partitions_members_have_is_kept_where_that_could_be_more_even(owned, counts):
    """Of the present assignment and of each answer, most first; of a group as even as can be nothing is."""
    members = [member(m, ["orders"], {"orders": p}) for m, p in owned.items()]
    snapshot = make_snapshot(topics=[topic("orders", 6)], groups=[group("g", members=members)])

    kept = {
        row["strategy"]: fact.subjects[0]
        for row in proposed(Settings(), groups(snapshot)[0], ask_next_change=False)
        for fact in candidate_of(row).counts
    }

    assert {name: kept.get(name) for name in counts} == counts
    assert bool(kept) is bool(counts)


def test_why_and_how_stand_in_the_row_as_facts_beside_their_sentences(monkeypatch):
    """And are read back as they were."""
    row = _rows(monkeypatch, Seen("roundrobin"), group_type="classic", assignor="roundrobin")[
        "roundrobin"
    ]
    read = candidate_of(row)

    assert (row["reason"], row["how"]) == (
        "the current strategy",
        "The group already runs this strategy: restart one member, the rebalance applies the assignment.",
    )
    assert [one.measure for one in (*read.reason, *read.how)] == ["runs_it", "restart_one"]


def test_a_cooperative_answer_is_followed_to_its_end(monkeypatch):
    """What must be given up first is scored where it comes to rest, and the row says what it takes."""

    class TwoRounds(Seen):
        def assign(self, group: GroupSpec) -> Assignment:
            self.asked.append(group)
            owner, to = group.owner.copy(), group.owner * 0 - 1
            owner[1] = -1 if len(self.asked) == 1 else 1
            to[1] = 1 if len(self.asked) == 1 else -1
            return Assignment(owner=owner, transferring=to)

    strategy = TwoRounds("range")

    row = _rows(monkeypatch, strategy, assignor="range")["range"]

    assert row["replay"] == "next rebalance, settled in 2 rounds; 1 partition pauses in between"
    assert (row["unowned"], row["moves"]) == (0, 1)
    assert strategy.asked[1].owned_partition.tolist() == [0, 2]


def test_a_strategy_that_never_settles_is_infeasible(monkeypatch):
    """Partitions that wait for ever are no assignment, and the row says how many."""

    class Never(Seen):
        def assign(self, group: GroupSpec) -> Assignment:
            owner = group.owner.copy()
            owner[0] = -1
            return Assignment(owner=owner, transferring=group.owner * 0)

    row = _rows(monkeypatch, Never("range"), assignor="range")["range"]

    assert row["feasibility"] == "not applicable"
    assert "3 partitions still wait" in row["reason"]


class Reckless(Seen):
    """A custom strategy that does to its answer, and to its input, what *spoil* says."""

    def __init__(self, name: str, spoil) -> None:
        super().__init__(name)
        self.spoil = spoil

    def assign(self, group: GroupSpec) -> Assignment:
        """What is spoiled, or what the group has."""
        return Assignment(owner=self.spoil(group.owner))


def _zeroed(owner):
    owner[:] = 0
    return owner


@pytest.mark.parametrize(
    ("situation", "spoil", "reason"),
    [
        ("too short", lambda owner: owner[:1], "failed: owner has 1 entries for 3 partitions"),
        ("out of range", lambda owner: owner + 9, "failed: owner has values from 9 to 10"),
        ("no integers", lambda owner: owner * 0.5, "failed: owner is not a one-dimensional"),
        ("raising", lambda owner: owner[99], "failed: it raised IndexError"),
    ],
)
def test_a_custom_strategys_fault_costs_only_its_own_row(monkeypatch, situation, spoil, reason):
    """The others keep theirs, and its reason is said."""
    seen = Seen("seen")

    rows = _rows(monkeypatch, Reckless("reckless", spoil), seen)

    assert rows["reckless"]["feasibility"] == "not applicable", situation
    assert rows["reckless"]["reason"].startswith(reason)
    assert (rows["seen"]["unowned"], seen.asked[0].owner.tolist()) == (0, [0, 0, 1])


class Many(Seen):
    """It takes many groups by a method of its own, in a way of its own."""

    def assign_many(self, groups):
        """Not to be called."""
        raise AssertionError(groups)


def test_a_custom_strategy_is_asked_about_one_group_whatever_its_methods_are_called(monkeypatch):
    """What only looks like a method of ours is not called."""
    many = Many("many")

    rows = _rows(monkeypatch, many, ask_next_change=True, group_type="classic", assignor="many")

    assert rows["many"]["unowned"] == 0
    assert rows["many"]["join_moves"] is not None
    assert many.asked[0].group_count == 1


def test_a_custom_strategy_that_writes_to_its_input_spoils_nothing(monkeypatch):
    """The next one sees the group as it was, and so does the judge."""
    seen = Seen("seen")

    rows = _rows(monkeypatch, Reckless("reckless", _zeroed), seen)

    assert rows["reckless"]["moves"] == 1
    assert seen.asked[0].owner.tolist() == [0, 0, 1]


def _next_moves(row):
    names = ("leave_moves_mean", "leave_moves_worst", "join_moves", "restart_moves")
    return [row[name] for name in (*names, "members_tried")]


def test_what_could_run_says_what_it_would_move_next(monkeypatch):
    """Not what the group has, what only a broker could run, or what assigns nothing without data nobody has."""
    classic = {"group_type": "classic", "assignor": "range"}
    needy = Needy("needy")
    known = [ASSIGNORS[name] for name in ("live", "range", "cooperative-sticky", "uniform")]

    rows = _rows(monkeypatch, *known, needy, ask_next_change=True, **classic)

    # two members, three partitions: a 0 1, b 2; by range a new member may come first, and take 0 from a, and so on
    assert _next_moves(rows["cooperative-sticky"]) == [1.5, 2, 1, 6, 2]
    assert rows["range"]["leave_moves_mean"] == 1.5
    for name in ("live", "uniform", "needy"):
        assert _next_moves(rows[name]) == [None] * 5, name
    assert candidate_of(rows["range"]).next_change is not None
    assert candidate_of(rows["live"]).next_change is None


@pytest.mark.parametrize("asked", [True, False])
def test_the_next_change_may_be_left_out(asked):
    """It is a third of the work, and who goes over many snapshots needs it of none but the newest."""
    _, [measured] = measured_at_once(Settings(), BatchWithPast.of(_small()))

    rows = candidate_table(propose_group(Settings(), measured, ask_next_change=asked)).to_pylist()

    [own] = [row for row in rows if row["strategy"] == "range"]
    assert (own["members_tried"] is not None) is asked


def _small():
    """Two members that list range, and three partitions."""
    members = [member("a", ["t"], {"t": [0, 1]}), member("b", ["t"], {"t": [2]})]
    described = group("g", members=members, assignor="range")
    return groups(make_snapshot(topics=[topic("t", 3)], groups=[described]))[0]


class Picky(Seen):
    """Cannot do without two members."""

    def assign(self, group: GroupSpec) -> Assignment:
        """What the group has."""
        if len(group.members) < 2:
            raise self.problem
        return super().assign(group)


@pytest.mark.parametrize("problem", [Infeasible("it takes two."), ValueError("a fault")])
def test_a_strategy_that_fails_on_the_next_group_has_its_score_all_the_same(monkeypatch, problem):
    """Only what it would move next is unknown."""
    picky = Picky("picky")
    picky.problem = problem

    header = {"group_type": "classic", "assignor": "picky"}
    row = _rows(monkeypatch, picky, ask_next_change=True, **header)["picky"]

    assert (row["moves"], _next_moves(row)) == (0, [None] * 5)


class Needy(Seen):
    """A strategy that needs user data, and reads it as JSON."""

    needs = frozenset({"user_data"})


class Weighs(Needy):
    """A strategy whose members send their weight as text."""

    def read_user_data(self, data: bytes) -> dict[str, int]:
        """The weight."""
        return {"weight": int(data)}


class Quits(Needy):
    """A strategy whose reading ends the program."""

    def read_user_data(self, data: bytes) -> dict[str, int]:
        """Nothing."""
        raise SystemExit("bye")


def test_configured_data_reaches_strategies_member_by_member(monkeypatch):
    """Each member's client id and host, and what configuration says of it, on top and at its own place."""
    seen, rule = Seen("seen"), Rule(members={"a": {"weight": 3}, "b": {"host": "rack 7"}})

    _rows(monkeypatch, seen, settings=Settings(rules=(rule,)))

    assert dict(zip(seen.asked[0].members, seen.asked[0].config, strict=True)) == {
        "a": {"client_id": "a", "host": "10.0.0.1", "weight": 3},
        "b": {"client_id": "b", "host": "rack 7"},
    }


def test_configured_data_reaches_strategies_when_members_change_too(monkeypatch):
    """A strategy that is asked what it would move next knows of each member what it knew before."""
    seen, rule = Seen("seen"), Rule(members={"a": {"weight": 3}, "b": {"weight": 5}})
    header = {"group_type": "classic", "assignor": "seen"}

    _rows(monkeypatch, seen, settings=Settings(rules=(rule,)), ask_next_change=True, **header)

    assert len(seen.asked) > 1
    for asked in seen.asked:
        assert len(asked.config) == len(asked.members)
        weights = dict(zip(asked.members, (own["weight"] for own in asked.config), strict=True))
        assert {weights.get("a", 3), weights.get("b", 5)} == {3, 5}


@pytest.mark.parametrize(
    ("kind", "assignor", "sent", "data"),
    [
        (Weighs, "weighs", (b"3", b"1"), ({"weight": 3}, {"weight": 1})),
        (Needy, "weighs", (b'{"weight": 3}', b'{"ip": "::1"}'), ({"weight": 3}, {"ip": "::1"})),
        (Weighs, "weighs", (b"3", None), ({"weight": 3}, {"weight": 2})),
        (Weighs, "range", (b"3", b"1"), ({"weight": 2}, {"weight": 2})),
    ],
)
def test_user_data_is_what_members_sent_or_what_is_configured(
    monkeypatch, kind, assignor, sent, data
):
    """Sent counts as a whole, JSON or as the class reads it; configured of who sent none, or sent it to another."""
    weighs, settings = kind("weighs"), Settings(rules=(Rule(members={"*": {"weight": 2}}),))

    row = _rows(monkeypatch, weighs, settings=settings, sent=sent, assignor=assignor)["weighs"]

    assert weighs.asked[0].user_data == data
    assert assignor == "range" or row["feasibility"] == "available"


@pytest.mark.parametrize(
    ("kind", "sent", "assignor", "missing"),
    [
        (
            Weighs,
            (b"3", None),
            "own",
            "of 1 of 2 members (b@/10.0.0.1) is unknown: they sent none",
        ),
        (Weighs, (b"3", b"1"), "range", "the group runs range, which sends none for it"),
        (
            Needy,
            (b"{}", b""),
            "own",
            "(b@/10.0.0.1) is unknown: they sent none; set it in",
        ),
        (
            Weighs,
            (b"x", b"1"),
            "own",
            "the user data of 1 of 2 members (a@/10.0.0.1): ValueError: invalid literal",
        ),
        (
            Weighs,
            (b"x" * 10**6, b"1"),
            "own",
            "members (a@/10.0.0.1): ValueError: ",
        ),
        (
            Needy,
            (b"3", b"[]"),
            "own",
            "2 of 2 members (a@/10.0.0.1, b@/10.0.0.1): it reads as int, not as",
        ),
        (Needy, (b"[" * 10**5, b"{}"), "own", "members (a@/10.0.0.1): RecursionError"),
        (Quits, (b"{}", b"{}"), "own", "members (a@/10.0.0.1, b@/10.0.0.1): SystemExit: bye"),
    ],
)
def test_missing_user_data_is_named(monkeypatch, kind, sent, assignor, missing):
    """A strategy that cannot be given what it needs is infeasible, with whose data is missing and why."""
    own = kind("own")

    row = _rows(monkeypatch, own, sent=sent, assignor=assignor)["own"]

    assert row["feasibility"] == "not applicable"
    assert missing in row["reason"]
    assert len(row["reason"]) < 300
    [why] = candidate_of(row).reason
    assert why.measure.startswith("user_data_")
    assert why.bound == 2
    assert own.asked == []
