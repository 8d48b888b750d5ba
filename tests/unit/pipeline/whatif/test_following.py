"""
What a group that follows a plan would get: what its follower, kafka-python's class, gives once it is so.

With fallbacks that kafka-python and Java have alike; both sticky ones are compared with Java's follower on brokers
(`tests/integration/test_whatif_groups.py`).
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.engine.config import Settings
from evenkeel.engine.followers.kafka_python import PlanAssignor
from evenkeel.engine.followers.plan import Plan, PlannedMember
from evenkeel.engine.messages.wording import words
from evenkeel.engine.pipeline.whatif import (
    Grows,
    Joins,
    Leaves,
    answer,
    following_of,
    outcomes,
    suppose,
)
from tests.helpers import rebalancing
from tests.helpers.measuring import seen
from tests.helpers.snapshots import FIRST, group, groups, make_snapshot, member, topic

HOST = "10.0.0.1"


def plan_of(planned, fallback, **more):
    """A plan by name: name -> topic -> partitions; names with an s are instance ids, others client ids."""
    return Plan(
        group="g",
        members=tuple(
            PlannedMember(instance_id=name, partitions=own)
            if name.startswith("s")
            else PlannedMember(client_id=name, host=HOST, partitions=own)
            for name, own in planned.items()
        ),
        made_at=FIRST - timedelta(hours=1),
        valid_until=more.get("until", FIRST + timedelta(days=7)),
        fallback=fallback,
        strategy="balanced",
    )


class Running:
    """A group whose members are kafka-python's followers of a plan, and what a snapshot shows of it."""

    def __init__(self, folder: Path, sizes, subscriptions, plan: Plan) -> None:
        self.path = folder / "plan.json"
        self.path.write_text(plan.to_json())
        self.group = rebalancing.Group(rebalancing.Topics(**sizes))
        for name, topics in subscriptions.items():
            self.join(name, topics)
        self.group.settle()

    def join(self, name, topics, *, static: bool | None = None, host: str = HOST) -> None:
        """One more member."""
        follower = PlanAssignor(plan=self.path, group="g", address=host, now=lambda: FIRST)
        is_static = name.startswith("s") if static is None else static
        self.group.add(name, follower, topics, static=is_static)

    def id_of(self, name: str) -> str:
        """The member id of that member."""
        return self.group.members[name].member_id

    def snapshot(self, follows: str | None = "balanced"):
        """As evenkeel sees it."""
        rows = []
        for name, one in self.group.members.items():
            owned = {t: sorted(n for topic, n in one.owned if topic == t) for t in one.topics}
            rows.append(
                member(
                    one.member_id,
                    one.topics,
                    owned,
                    client_id=name,
                    client_host=f"/{HOST}",
                    instance_id=one.static,
                    follows=follows,
                )
            )
        sizes = self.group.cluster.counts
        header = group("g", members=rows, lag=dict.fromkeys(sizes, 0), assignor="evenkeel-plan")
        topics = [topic(name, count) for name, count in sizes.items()]
        return groups(make_snapshot(topics=topics, groups=[header]))[0]

    @property
    def owned(self):
        """Name -> sorted pairs."""
        return {name: sorted(one.owned) for name, one in self.group.members.items()}


@st.composite
def described(draw):
    """Sizes of topics, subscriptions by name, a plan, and another plan that nobody gave evenkeel."""
    sizes = {f"t{n}": draw(st.integers(1, 6)) for n in range(draw(st.integers(1, 3)))}
    some = st.lists(st.sampled_from([*sizes]), min_size=1, unique=True)
    alike = draw(st.booleans())
    kind = draw(st.sampled_from(["s", "c"]))
    names = [f"{kind}{n}" for n in range(draw(st.integers(2, 5)))]
    subscriptions = {name: [*sizes] if alike else draw(some) for name in names}
    planned = {name: dict[str, tuple[int, ...]]() for name in names}
    for name, count in sizes.items():
        takers = [one for one, topics in subscriptions.items() if name in topics]
        for number in range(count if takers else 0):
            own = planned[draw(st.sampled_from(takers))]
            own[name] = (*own.get(name, ()), number)
    # kafka-python's round robin fails on members of unequal subscriptions
    return (
        sizes,
        subscriptions,
        plan_of(planned, draw(st.sampled_from(["range", "roundrobin"] if alike else ["range"]))),
    )


def foreseen(running: Running, changes, plan=None):
    """Name -> sorted pairs after changes."""
    one = seen(running.snapshot())
    supposed = suppose(one, changes)
    [found] = outcomes(Settings(), supposed, ["evenkeel-plan"], following_of(one.group, plan))
    assert found.lists is not None, found.candidate.reason
    assert found.candidate.is_running
    names = {member.member_id: name for name, member in running.group.members.items()}
    return {names.get(name, name): sorted(own) for name, own in found.lists.items()}


@given(case=described(), data=st.data())
def test_without_a_member_the_others_get_what_their_follower_gives(case, data):
    """Whatever the fallback: it gives what the plan gave to who left, and nothing else changes hands."""
    sizes, subscriptions, plan = case
    with TemporaryDirectory() as folder:
        running = Running(Path(folder), sizes, subscriptions, plan)
        gone = data.draw(st.sampled_from([*subscriptions]))
        expected = foreseen(running, [Leaves(member=running.id_of(gone))], plan)
        del running.group.members[gone]
        running.group.settle()
    assert expected == running.owned


@given(case=described(), data=st.data())
def test_who_joins_and_what_is_added_get_what_the_fallback_gives(case, data):
    """A stranger to the plan gets a share; a topic that grows has new partitions that the plan does not know."""
    sizes, subscriptions, plan = case
    grown = data.draw(st.sampled_from(sorted({t for own in subscriptions.values() for t in own})))
    with TemporaryDirectory() as folder:
        running = Running(Path(folder), sizes, subscriptions, plan)
        joins, more = Joins(member="new-1"), Grows(topic=grown, partitions=sizes[grown] + 2)
        one = suppose(seen(running.snapshot()), [joins])
        expected = foreseen(running, [joins, more], plan)
        new = one.group.members[-1]
        running.group.cluster.counts[grown] += 2
        running.join("new-1", new.subscription, static=new.instance_id is not None, host="10.9.9.9")
        running.group.settle()
    assert expected == running.owned


PLANNED = {"s0": {"t": (0,)}, "s1": {"t": (1, 2, 3)}, "s2": {"t": (4, 5)}}
SUBSCRIBED = {name: ["t"] for name in PLANNED}


@pytest.fixture
def running(tmp_path):
    """Three members, and a plan whose fallback is range."""
    return Running(tmp_path, {"t": 6}, SUBSCRIBED, plan_of(PLANNED, "range"))


def assumed(group, *changes, plan=None):
    """What was assumed, and the outcome of the plan."""
    reply = answer(Settings(), seen(group), changes, ["evenkeel-plan"], plan)
    return [words(fact) for fact in reply.assumed], reply.outcomes[0]


def test_without_the_plan_it_is_what_members_own_now(running):
    """By the default fallback: who stays keeps what it has, and that is said."""
    said, outcome = assumed(running.snapshot(), Leaves(member=running.id_of("s1")))
    owned = {name: sorted(number for _, number in own) for name, own in outcome.lists.items()}
    assert owned == {running.id_of("s0"): [0, 1, 3], running.id_of("s2"): [2, 4, 5]}
    assert said[1] == (
        "the plan of the group (by balanced) is assumed to be its present assignment, with the fallback "
        "cooperative-sticky (the default): --plan FILE sets both"
    )
    assert [words(fact) for fact in outcome.candidate.findings] == [
        "the plan doesn't fit: not here, but in the plan: s1",
        "the plan doesn't fit: 3 partitions are given by cooperative-sticky, not by the plan",
    ]


def test_a_plan_that_is_given_says_who_decides_the_rest(running):
    """Its own fallback does: range gives other partitions to who stays than sticky would."""
    given = plan_of(PLANNED, "range")
    said, outcome = assumed(running.snapshot(), Leaves(member=running.id_of("s0")), plan=given)
    owned = {name: sorted(number for _, number in own) for name, own in outcome.lists.items()}
    assert owned == {running.id_of("s1"): [0, 1, 2, 3], running.id_of("s2"): [4, 5]}
    assert (
        "the group follows the given plan (by balanced); range assigns the partitions that it leaves out"
        in said
    )


def test_a_plan_that_expired_is_followed_by_nobody(running):
    """The fallback decides alone, and why is said."""
    given = plan_of(PLANNED, "range", until=FIRST - timedelta(seconds=1))
    said, outcome = assumed(running.snapshot(), plan=given)
    assert sorted(map(len, outcome.lists.values())) == [2, 2, 2]
    assert (
        "no member follows the given plan (the plan expired at 2026-03-01 11:59:59 UTC): range assigns all partitions"
        in said
    )


def test_while_no_plan_is_followed_the_fallback_decides_alone(running):
    """From what members claim."""
    said, outcome = assumed(running.snapshot(follows=None))
    assert sorted(map(len, outcome.lists.values())) == [2, 2, 2]
    assert len(outcome.moves) == 1
    assert (
        "its leader reports that no plan is followed now: the fallback, assumed to be cooperative-sticky "
        "(the default), assigns" in said
    )


def test_what_runs_is_the_plan_and_not_what_made_it(running):
    """Who made the plan would make another one for the group as it would be; so many members suffice by the plan."""
    reply = answer(Settings(), seen(running.snapshot()), [Joins(member="new-1")])
    by_name = {one.candidate.strategy: one.candidate for one in reply.outcomes}
    assert reply.outcomes[0].candidate.strategy == "evenkeel-plan"
    assert [name for name, one in by_name.items() if one.is_running] == ["evenkeel-plan"]
    assert by_name["balanced"].assignment is not None
    assert reply.sizes["evenkeel-plan"].most == 6
    assert "the plan doesn't know new-1" in " ".join(map(words, reply.assumed))


def test_the_order_of_two_rounds_is_that_of_a_cooperative_group(running):
    """What somebody must give up first waits a round."""
    _, outcome = assumed(running.snapshot(), Joins(member="new-1"))
    [replay] = outcome.candidate.replay
    assert (replay.measure, replay.after, replay.partitions) == ("next_rebalance", 2, 1)


def test_a_sticky_fallback_starts_from_the_plan_and_not_from_what_members_have(running):
    """A plan that the group has yet to come to: what it does not say is dealt evenly beside it, as by the follower."""
    planned = {"s0": {"t": (1, 2)}, "s1": {"t": (0,)}, "s2": {"t": (3, 4, 5)}}
    given = plan_of(planned, "cooperative-sticky")
    expected = foreseen(running, [Leaves(member=running.id_of("s2"))], given)
    running.path.write_text(given.to_json())
    del running.group.members["s2"]
    running.group.settle()
    assert [len(own) for own in expected.values()] == [3, 3]
    assert {name: len(own) for name, own in running.owned.items()} == {"s0": 3, "s1": 3}
    assert {("t", 1), ("t", 2)} < set(expected["s0"])
