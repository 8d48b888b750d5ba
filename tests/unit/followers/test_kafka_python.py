"""kafka-python's follower: what it answers as a leader, what it tells as a member, without brokers."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.coordinator.assignors.abstract import RebalanceProtocol
from kafka.protocol.consumer.metadata import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
)

from evenkeel.engine.followers import kafka_python
from evenkeel.engine.followers.kafka_python import PlanAssignor
from evenkeel.engine.followers.plan import Plan, PlannedMember
from evenkeel.engine.followers.user_data import addresses_of, followed_of
from tests.helpers.rebalancing import Group, Topics, owners

NOW = datetime(2026, 3, 2, tzinfo=UTC)
CASES = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "data/plan-cases.jsonl").read_text().splitlines()
]


def plan(**partitions: tuple[int, ...]) -> Plan:
    """A plan by instance id, for topic t."""
    return Plan(
        group="g",
        members=tuple(
            PlannedMember(instance_id=name, partitions={"t": own})
            for name, own in partitions.items()
        ),
        made_at=NOW - timedelta(days=1),
        valid_until=NOW + timedelta(days=6),
        fallback="cooperative-sticky",
        strategy="balanced",
    )


class Place:
    """A file with a plan, and followers of it."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "plan.json"

    def put(self, plan: Plan) -> None:
        """Another plan from now on."""
        self.path.write_text(plan.to_json())

    def follower(self, **settings: Any) -> PlanAssignor:
        """One that follows what stands here."""
        return PlanAssignor(plan=self.path, now=lambda: NOW, **{"group": "g"} | settings)

    def group(self, *names: str, partitions: int = 4, **settings: Any) -> Group:
        """A group of followers of it on topic t that has come to rest."""
        found = Group(Topics(t=partitions))
        for name in names:
            found.add(name, self.follower(**settings))
        found.settle()
        return found


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """With the plan a: 0, b: 1, 2 and 3."""
    found = Place(tmp_path)
    found.put(plan(a=(0,), b=(1, 2, 3)))
    return found


def ids(case: dict[str, Any]) -> dict[str, str]:
    """Member ids of a case as brokers make them, in the same order."""
    here = sorted(case["present"], key=lambda one: str(one["member_id"]))
    return {
        one["member_id"]: f"{one['instance_id'] or one['client_id'] or 'nobody'}"
        f"-{place:08x}-0000-4000-8000-000000000000"
        for place, one in enumerate(here)
    }


def joined(one: dict[str, Any], member_id: str, eager: bool) -> Any:
    """A member of a case, as the leader gets it from a follower in any language."""
    owned: dict[str, list[int]] = {}
    for topic, number in one["owned"]:
        owned.setdefault(topic, []).append(number)
    told = {"evenkeel": 1, "addresses": one["addresses"]} | ({"had": owned} if eager else {})
    entry = ConsumerProtocolSubscription.TopicPartition
    claims = [] if eager else [entry(topic=t, partitions=p) for t, p in owned.items()]
    subscription = ConsumerProtocolSubscription(
        version=1,
        topics=one["topics"],
        user_data=json.dumps(told).encode(),
        owned_partitions=claims,
    )
    return SimpleNamespace(
        member_id=member_id,
        group_instance_id=one["instance_id"],
        metadata=ConsumerProtocolSubscription.decode(subscription.encode()),
    )


def claiming(name: str, owned: Any = (("t", 0),), *, eager: bool = False) -> Any:
    """A static member of topic t that claims what it owns, or in an eager group had."""
    one = {"instance_id": name, "topics": ["t"], "addresses": [], "owned": owned}
    return joined(one, f"{name}-1", eager)


@pytest.mark.parametrize("eager", [False, True], ids=["cooperative", "eager"])
@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_a_case_is_answered_as_written(
    case: dict[str, Any], eager: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All the way from subscriptions to assignments; an eager group gets at once what another gets in the end."""
    names = ids(case)

    class Fallback:
        def assign(self, cluster: Any, members: Any) -> Mapping[str, ConsumerProtocolAssignment]:
            return {
                names[member]: ConsumerProtocolAssignment(1, [(t, [n]) for t, n in pairs], b"")
                for member, pairs in case["fallback"].items()
            }

    monkeypatch.setitem(kafka_python._CLASSES, case["plan"]["fallback"], Fallback)
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(case["plan"]))
    now = datetime.fromisoformat(case["now"])
    follower = PlanAssignor(plan=path, group=case["group"], now=lambda: now, eager=eager)
    members = [joined(one, names[one["member_id"]], eager) for one in case["present"]]
    answer = follower.assign(Topics(), members)
    shown = {
        member: [[part.topic, part.partition] for part in answer[name].partitions()]
        for member, name in names.items()
    }
    assert shown == case["expected" if eager else "withheld"]


def test_a_group_comes_to_its_plan_without_reading_anything_twice(place: Place) -> None:
    """Members that join one by one, a new plan, one that leaves: in between nobody gets what another still has."""
    group = Group(Topics(t=4))
    group.add("a", place.follower())
    assert group.settle() == 1
    assert group.owned == {"a": [0, 1, 2, 3]}
    group.add("b", place.follower())
    assert group.rebalance()
    assert group.owned == {"a": [0], "b": []}
    assert not group.rebalance()
    assert group.owned == {"a": [0], "b": [1, 2, 3]}
    place.put(plan(a=(0, 1, 2), b=(3,)))
    assert group.settle() == 2
    assert group.owned == {"a": [0, 1, 2], "b": [3]}
    del group.members["a"]
    group.settle()
    assert group.owned == {"b": [0, 1, 2, 3]}


def test_a_group_with_a_member_that_is_not_in_the_plan_comes_to_rest(place: Place) -> None:
    """The fallback starts from the plan: starting from claims, it would take another partition from b in each round."""
    place.put(plan())
    group = place.group("a", "b", partitions=6)
    assert group.owned == {"a": [0, 2, 4], "b": [1, 3, 5]}
    place.put(plan(a=(0, 2), b=(1, 3, 4, 5)))
    for name in ("c", "a"):
        group.add(name, place.follower())
    assert group.settle() <= 3
    share = group.owned["c"]
    assert len(share) == 2
    assert group.owned["a"] == [0, 2]
    assert sorted([*group.owned["b"], *share]) == [1, 3, 4, 5]


def test_a_group_goes_from_eager_to_cooperative_member_by_member(place: Place) -> None:
    """In a mixed group only what cooperative members still read is withheld."""
    group = place.group("a", "b", eager=True)
    group.add("a", place.follower())
    group.settle()
    assert group.owned == {"a": [0], "b": [1, 2, 3]}
    place.put(plan(a=(0, 1), b=(2, 3)))
    group.settle()
    place.put(plan(a=(1,), b=(0, 2, 3)))
    assert group.rebalance()
    assert group.owned == {"a": [1], "b": [2, 3]}
    group.settle()
    assert group.owned == {"a": [1], "b": [0, 2, 3]}


def test_how_it_rebalances_is_one_of_both() -> None:
    """kafka-python would choose among several by what stands beside it, and not tell."""
    of = [PlanAssignor(plan="p", group="g", eager=eager) for eager in (False, True)]
    kinds = [one.supported_protocols() for one in of]
    assert kinds == [[RebalanceProtocol.COOPERATIVE], [RebalanceProtocol.EAGER]]
    assert {one.name for one in of} == {"evenkeel-plan"}


def test_partitions_that_a_member_has_lost_are_not_withheld_for_it(place: Place) -> None:
    """kafka-python's assignors go on claiming them, and nobody would join again to get them."""
    group = place.group("a")
    group.lose("a")
    group.add("b", place.follower())
    assert not group.rebalance()
    assert group.owned == {"a": [0], "b": [1, 2, 3]}


def test_a_group_that_was_lost_as_a_whole_comes_back_as_it_was(place: Place) -> None:
    """Without a plan, too: sticky strategies go by what members had, under whatever id."""
    place.put(plan(a=(0, 3), b=(1, 2)))
    group = place.group("a", "b")
    place.path.unlink()
    for name in ("b", "a"):
        group.lose(name)
    assert not group.rebalance()
    assert group.owned == {"a": [0, 3], "b": [1, 2]}


def test_of_two_that_claim_the_same_the_newer_generation_is_believed(place: Place) -> None:
    """A member that has not noticed yet that it was away does not get what another reads by now."""
    place.put(plan(a=(0,), b=()))
    own = place.follower()
    members = [claiming(one) for one in ("a", "b")]
    members[0].metadata.generation_id, members[1].metadata.generation_id = 4, 5
    answer = own.assign(Topics(t=1), members)
    assert [one.partitions() for one in answer.values()] == [[], []]
    members[0].metadata.generation_id = 5
    answer = own.assign(Topics(t=1), members)
    assert [one.partitions() for one in answer.values()] == [[("t", 0)], []]


def test_who_reads_a_partition_is_believed_before_who_had_it(place: Place) -> None:
    """In a group that is half eager: what an eager member remembers, of whichever generation, withholds nothing."""
    place.put(plan(a=(), b=(), c=(0,)))
    own = place.follower()
    members = [claiming("a", eager=True), claiming("b"), claiming("c", owned=[])]
    members[0].metadata.generation_id = 7
    answer = own.assign(Topics(t=1), members)
    assert [one.partitions() for one in answer.values()] == [[], [], []]


def test_what_a_restarted_static_member_reads_is_withheld(place: Place) -> None:
    """It got what was stored under the id of the one before it, and claims it under its own."""
    group = place.group("a")
    group.restart("a", place.follower())
    group.add("b", place.follower())
    assert group.rebalance()
    assert group.owned == {"a": [0], "b": []}


def test_what_a_restarted_static_member_then_loses_is_read_after_the_next_rebalance(
    place: Place,
) -> None:
    """It was not told the id it got at its restart, so its leader cannot see that it has another one by now."""
    place.put(plan())
    group = place.group("b", partitions=6)
    group.restart("b", place.follower())
    group.lose("b")
    group.add("a", place.follower())
    assert not group.rebalance()
    assert group.owned == {"b": [0, 1, 2], "a": []}
    assert not group.rebalance()
    assert group.owned == {"b": [0, 1, 2], "a": [3, 4, 5]}


STEPS = ("plan", "come", "come", "leave", "lose", "restart", "round", "round")
NAMES = ("a", "b", "c", "d")


def happens(step: str, name: str, group: Group, place: Place) -> None:
    """One thing to one member, if it can; a member that comes is not there yet."""
    there = name in group.members
    if step == "come" and not there:
        group.add(name, place.follower())
    elif step == "round" and group.members:
        group.rebalance()
    elif step == "leave" and there:
        del group.members[name]
    elif step == "lose" and there:
        group.lose(name)
    elif step == "restart" and there and group.members[name].member_id in group.answers:
        group.restart(name, place.follower())


@given(data=st.data())
def test_whatever_happens_each_partition_is_read_once_and_as_planned(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """
    Members come, go, restart, lose their membership and get new plans; after that the group settles on the plan.

    Where one lost its membership between its restart and the next rebalance, it takes one rebalance more.
    """
    place = Place(tmp_path_factory.mktemp("plans"))
    group = Group(Topics(t=6))
    planned: dict[str, tuple[int, ...]] = {}
    restarted: set[str] = set()
    one_more = False
    place.put(plan())
    for step in data.draw(st.lists(st.sampled_from(STEPS), min_size=1, max_size=12)):
        if step == "plan":
            to = data.draw(st.lists(st.sampled_from(NAMES), min_size=6, max_size=6))
            planned = {one: tuple(n for n in range(6) if to[n] == one) for one in sorted(set(to))}
            place.put(plan(**planned))
        name = data.draw(st.sampled_from(NAMES))
        before = group.members.get(name)
        happens(step, name, group, place)
        one_more |= step == "lose" and name in restarted
        if step == "round":
            restarted.clear()
        elif group.members.get(name) is not before:
            (restarted.add if step == "restart" else restarted.discard)(name)
        assert all(len(by) == 1 for by in owners(list(group.members.values())).values())
    group.add("a", place.follower())
    group.settle()
    if one_more:
        group.settle()
    found = owners(list(group.members.values()))
    assert {pair: len(by) for pair, by in found.items()} == {("t", n): 1 for n in range(6)}
    if set(group.members) <= set(planned):
        assert all(set(planned[name]) <= set(own) for name, own in group.owned.items())


def test_a_member_tells_what_it_owns_since_when_and_where_it_is(place: Place) -> None:
    """In a subscription of version 3, as other clients read it; the user data as Java's follower does."""
    follower = place.follower(address="fe80::1%eth0", rack="rack-a")
    group = Group(Topics(t=2, u=1))
    member = group.add("a", follower, ["u", "t"])
    group.generation = 6
    group.settle()
    told = member.joined().metadata
    assert (told.topics, told.generation_id, told.rack_id) == (["t", "u"], 7, "rack-a")
    assert [(one.topic, one.partitions) for one in told.owned_partitions] == [
        ("t", [0, 1]),
        ("u", [0]),
    ]
    assert addresses_of(bytes(told.user_data)) == ("fe80:0:0:0:0:0:0:1",)


@pytest.mark.slow
def test_nothing_secret_is_shown(caplog: pytest.LogCaptureFixture) -> None:
    """Neither by the follower's own form nor in the log, whatever fails."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, but nobody listens
        port = taken.getsockname()[1]
        address = f"http://me:hunter2@127.0.0.1:{port}/plan.json?token=hunter2"
        follower = PlanAssignor(plan=address, group="g")
        group = Group(Topics(t=1))
        group.add("a", follower)
        with caplog.at_level("DEBUG"):
            group.settle()
    assert "Connection refused" in caplog.text
    assert "hunter2" not in caplog.text + repr(follower)
    assert repr(follower) == f"PlanAssignor(plan='http://127.0.0.1:{port}/plan.json', group='g')"


def test_what_a_follower_of_java_tells_is_understood(place: Place) -> None:
    """Its addresses; without token and member id, what it claims is believed."""
    entry = PlannedMember(client_id="orders", host="/10.0.0.2", partitions={"t": (0, 1)})
    place.put(
        Plan(
            group="g",
            members=(entry,),
            made_at=NOW,
            valid_until=NOW + timedelta(days=1),
            fallback="range",
        )
    )
    own = place.follower(address="10.0.0.1")
    group = Group(Topics(t=3))
    group.add("p", own, static=False)
    group.settle()
    java = {
        "member_id": "orders-0fa2b5b1-96f7-4b27-8e5a-3f1d2c3b4a59",
        "instance_id": None,
        "topics": ["t"],
        "addresses": ["127.0.0.1", "10.0.0.2"],
        "owned": [],
    }
    members = [group.members["p"].joined(), joined(java, java["member_id"], eager=False)]
    answer = own.assign(group.cluster, members)
    # it owns nothing yet: p claims all three, and range gives the stranger p, which comes later, the last
    assert answer[java["member_id"]].partitions() == []
    java["owned"] = [["t", 0], ["t", 1]]
    members[0].metadata.owned_partitions = []
    answer = own.assign(group.cluster, [members[0], joined(java, java["member_id"], False)])
    assert sorted(answer[java["member_id"]].partitions()) == [("t", 0), ("t", 1)]
    assert followed_of(answer[java["member_id"]].user_data) == ""


@pytest.mark.parametrize(
    "user_data",
    [None, b"\xff\x00", b'{"evenkeel": 1, "addresses": 7, "had": []}'],
)
def test_what_cannot_be_understood_is_passed_over(place: Place, user_data: bytes | None) -> None:
    """User data of strangers, of later versions, damaged: the member is known by its instance id all the same."""
    subscription = ConsumerProtocolSubscription(version=0, topics=["t"], user_data=user_data)
    member = SimpleNamespace(
        member_id="b-1",
        group_instance_id="b",
        metadata=ConsumerProtocolSubscription.decode(subscription.encode()),
    )
    group = Group(Topics(t=4))
    own = group.add("a", place.follower())
    answer = own.follower.assign(group.cluster, [own.joined(), member])
    assert [part.partition for part in answer["b-1"].partitions()] == [1, 2, 3]


def test_the_leader_tells_which_plan_is_followed(place: Place) -> None:
    """In each assignment, for whoever describes the group; null while the fallback decides alone."""

    def told() -> list[str | None]:
        group.rebalance()
        answers = [ConsumerProtocolAssignment.decode(one) for one in group.answers.values()]
        return [followed_of(one.user_data) for one in answers]

    group = Group(Topics(t=4))
    for name in ("a", "b"):
        group.add(name, place.follower())
    assert told() == ["balanced", "balanced"]
    place.put(replace(plan(), valid_until=NOW))
    assert told() == [None, None]
    place.path.unlink()
    assert told() == [None, None]


def test_strategies_that_fail_are_replaced(place: Place, caplog: pytest.LogCaptureFixture) -> None:
    """kafka-python's roundrobin fails where members subscribe to different topics; range decides, and that is said."""
    group = Group(Topics(t=2, u=2))
    place.path.unlink()
    group.add("a", place.follower(fallback="roundrobin"), ["t"])
    group.add("b", place.follower(), ["u"])
    group.settle()
    assert group.owned == {"a": [0, 1], "b": [0, 1]}
    assert "roundrobin fails (KeyError in roundrobin.py:" in caplog.text


@pytest.mark.parametrize("fallback", ["cooperative-sticky", "sticky"])
def test_without_a_plan_members_keep_what_they_have(place: Place, fallback: str) -> None:
    """The sticky strategies know what each member owns, in a cooperative and in an eager group."""
    for eager in (False, True):
        place.put(plan(a=(0, 3), b=(1, 2)))
        group = place.group("a", "b", fallback=fallback, eager=eager)
        place.path.unlink()
        group.settle()
        assert group.owned == {"a": [0, 3], "b": [1, 2]}


def test_members_of_both_kinds_all_get_something(place: Place) -> None:
    """kafka-python's range and roundrobin forget members where static and dynamic ones alternate; here they do not."""
    for fallback in ("range", "roundrobin"):
        place.path.unlink(missing_ok=True)
        group = Group(Topics(t=4))
        for name, static in (("a", True), ("b", False), ("c", True), ("d", False)):
            group.add(name, place.follower(fallback=fallback), static=static)
        group.settle()
        assert sorted(map(len, group.owned.values())) == [1, 1, 1, 1]


class TestLog:
    """What is said, and how often."""

    @pytest.fixture
    def said(self, caplog: pytest.LogCaptureFixture) -> Iterator[list[tuple[str, str]]]:
        """Level and text of what the followers have said."""
        caplog.set_level("INFO", "evenkeel.followers")

        class Said(list[tuple[str, str]]):
            def take(self) -> list[tuple[str, str]]:
                found = [(one.levelname, one.getMessage()) for one in caplog.records]
                caplog.clear()
                return found

        return Said()  # type: ignore[return-value]

    def test_a_reason_is_said_once_until_it_changes(self, place: Place, said: Any) -> None:
        """However often the group rebalances; that all is well again is said once, too."""
        group = place.group("a")
        group.rebalance()
        shown = f"group g, plan {place.path}: "
        absent = "not here, but in the plan: b; 3 partitions are given by cooperative-sticky, not by the plan"
        assert said.take() == [("WARNING", shown + absent)]
        group.add("b", place.follower())
        group.settle()
        group.rebalance()
        ((level, text),) = said.take()
        assert (level, "follows its plan" in text) == ("INFO", True)
        place.path.unlink()
        group.settle()
        group.settle()
        missing = "the plan cannot be read: No such file or directory"
        assert said.take() == [("WARNING", shown + missing)]
        place.put(plan(a=(0,), b=(1, 2, 3)))
        group.settle()
        place.path.unlink()
        group.settle()
        assert [level for level, _ in said.take()] == ["INFO", "WARNING"]

    def test_names_of_others_write_no_lines(self, place: Place, said: Any) -> None:
        """A client id is anything, and as long as anyone likes; the group's own id is anything, too."""
        group = Group(Topics(t=4))
        name = "g\x1b[2J\u202e"
        place.put(replace(plan(a=(0,), b=(1, 2, 3)), group=name))
        group.add("a", place.follower(group=name))
        client_id = "x\nWARNING all is lost\x1b[31m" + "y" * 5000
        group.add(client_id, place.follower(group=name), static=False)
        group.settle()
        ((_, text), *_) = said.take()
        assert text.isprintable()
        assert "WARNING all is lost" in text
        assert len(text) < 2500


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"plan": None}, "EVENKEEL_PLAN"),
        ({"plan": "p", "group": ""}, "group is empty"),
        ({"plan": "p", "fallback": "fair"}, "fallback 'fair' is none of"),
        ({"plan": "p", "timeout_seconds": 0}, "timeout_seconds is 0"),
        ({"plan": "topic:plans"}, "bootstrap_servers"),
        ({"plan": "topic:"}, "names no topic"),
        ({"plan": "http://plans.example/p.json"}, "use https"),
        ({"plan": "ftp://plans.example/p.json"}, "cannot be read by ftp"),
        ({"plan": "https:///p.json"}, "names no host"),
        ({"plan": "file://elsewhere/p.json"}, "of this host only"),
    ],
)
def test_wrong_settings_are_refused_with_their_fix(
    settings: dict[str, Any], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the follower is made, not when the group rebalances."""
    monkeypatch.delenv("EVENKEEL_PLAN", raising=False)
    with pytest.raises(ValueError, match=told):
        PlanAssignor(**{"group": "g"} | settings)


def test_the_environment_names_the_plan(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the code names none."""
    monkeypatch.setenv("EVENKEEL_PLAN", place.path.as_uri())
    group = Group(Topics(t=4))
    for name in ("a", "b"):
        group.add(name, PlanAssignor(group="g", now=lambda: NOW))
    group.settle()
    assert group.owned == {"a": [0], "b": [1, 2, 3]}
