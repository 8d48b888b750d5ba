"""What `evenkeel readiness` says of groups, held against real brokers: moves there and back, losses, and refusals."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from evenkeel.engine.model.coordinators import POLICY_SETTING
from tests.helpers.applied import (
    Java,
    Librdkafka,
    Members,
    across,
    at_rest,
    await_members,
    closing_members,
    do,
    run_tool,
    runbook_of,
    seen,
    settled,
    way_of,
)
from tests.helpers.commands import evenkeel
from tests.helpers.kafka_stage import Stage, Watch
from tests.helpers.own_brokers import own_brokers
from tests.integration.test_runbook import JAVA_RANGE, KafkaPython
from tests.oracle.follower import FollowerGroupJvm
from tests.stage.kafka.brokers import RACKS
from tests.stage.process import wait_until

pytest_plugins = ("tests.helpers.kafka_fixtures",)
pytestmark = [pytest.mark.kafka, pytest.mark.timeout(1200)]

CLASSIC_RANGE = {"partition.assignment.strategy": "range", "session.timeout.ms": "10000"}
NO_SUCH_GROUP = "The group id does not exist"
"""What librdkafka says of GROUP_ID_NOT_FOUND."""

EAGER = "no rebalance pauses all 6 partitions"


def told(members: Members) -> dict[str, Any]:
    """What is said of the group, once it is at rest: a restarted member may bring one rebalance more."""
    place = ("--group", members.name, "--bootstrap", members.stage.bootstrap)

    def at_rest() -> dict[str, Any] | None:
        row = dict(json.loads(evenkeel("readiness", *place, "--json")))
        return None if "rebalancing (" in str(row["why"]) else row

    return wait_until(at_rest, 60, f"{members.name} at rest", interval=1)


def refused(members: Members) -> str:
    """What a member of librdkafka is told that joins by the consumer protocol now."""
    asking = Librdkafka(
        members.stage,
        members.name.removeprefix(members.stage.prefix),
        {"group.protocol": "consumer"},
        topic=members.topic,
    )
    asking.start(9)
    wait_until(lambda: asking.troubles, 120, f"a member of {members.name} to be refused")
    asking.end()
    return asking.troubles[0]


def whole_way(members: Members, row: dict[str, Any], restart: str, back: str) -> None:
    """Do what the runbook of the row's next step says, there and back."""
    assert row["next_step"] == (
        f"evenkeel runbook --group {members.name} --strategy {row['strategy_there']}"
    )
    way = way_of(runbook_of(members, row["strategy_there"]), members)
    assert [each["restart"] for each in (*way["rounds"], *way["back"])] == [restart, back]
    owned = {partition: one.instance_id for partition, one in (at_rest(members) or {}).items()}
    do(members, way["rounds"])
    assert told(members)["readiness"] == "moved"
    if members.static:
        owners = (at_rest(members) or {}).items()
        assert {partition: one.instance_id for partition, one in owners} == owned
    do(members, way["back"])
    assert (seen(members)["group_type"], told(members)["readiness"]) == (
        "classic",
        row["readiness"],
    )


class StaticJava(Java):
    """Java's consumers with an instance id each."""

    static = True

    def own(self, number: int) -> dict[str, str]:
        """With its instance id."""
        return super().own(number) | {"group.instance.id": f"i-{number}"}


class OneStatic(Librdkafka):
    """librdkafka's consumers, of which the first has an instance id."""

    def own(self, number: int) -> dict[str, str]:
        """With its instance id."""
        return super().own(number) | ({} if number else {"group.instance.id": "i-0"})


def java(
    kind: type[Java], stage: Stage, name: str, jvm: FollowerGroupJvm, racks: list[str]
) -> Java:
    """A settled group of the classic protocol."""
    settings = {
        "partition.assignment.strategy": JAVA_RANGE,
        "heartbeat.interval.ms": "200",
        "session.timeout.ms": "30000",
    }
    members = kind(stage, name, settings, jvm, racks)
    for number in range(members.units):
        members.start(number)
    settled(members, "range")
    return members


def test_java_members_move_and_lose_their_racks(
    stage: Stage, members_jvm: FollowerGroupJvm
) -> None:
    """One rolling restart each way; nothing is read across racks before and after, something in between."""
    members = java(Java, stage, "racked", members_jvm, [*RACKS.values()][::-1])
    assert not any(across(members))
    row = told(members)
    (loss,) = [each for each in row["facts"] if each["kind"] == "loss"]
    assert (row["readiness"], row["place"], loss["measure"]) == (
        "has losses",
        1,
        "cross_rack_share",
    )
    assert loss["before"] == 0 < loss["after"]
    assert (row["gains"], row["stopped_partitions"]) == ([EAGER], 6)
    way = way_of(runbook_of(members, row["strategy_there"]), members)
    do(members, way["rounds"])
    assert told(members)["readiness"] == "moved"
    # who comes back gets what is left over, wherever that is
    for turn in count():
        if any(across(members)):
            break
        members.restart(turn % members.count)
        settled(members, "uniform")
    do(members, way["back"])
    assert not any(across(members))
    members.end()


def test_static_members_stay_static(stage: Stage, members_jvm: FollowerGroupJvm) -> None:
    """Each is replaced by its successor of the other protocol, under its instance id and with what it had."""
    members = java(StaticJava, stage, "static", members_jvm, [])
    row = told(members)
    assert row["readiness"] == "ready"
    assert any("3 of 3 members are static" in each for each in row["notes"])
    whole_way(members, row, "rolling", "rolling")
    watched = Watch(stage, "static").look().group
    assert {one.instance_id for one in watched.members} == {f"i-{n}" for n in range(3)}
    members.end()


def test_a_group_of_librdkafka_is_of_both_protocols_on_the_way(stage: Stage) -> None:
    """It is said who is left; the last member of the new protocol that leaves takes the group back."""
    with closing_members(Librdkafka(stage, "mixed", CLASSIC_RANGE)) as members:
        settled(members, "range")
        row = told(members)
        assert (row["readiness"], row["gains"]) == ("ready", [EAGER])
        (there,) = way_of(runbook_of(members, "uniform"), members)["rounds"]
        members.take_over(there["settings"]["librdkafka"])
        members.restart(0)
        settled(members, "uniform")
        row = told(members)
        assert (row["readiness"], row["place"]) == ("in migration", 1)
        assert row["why"] == ["2 of 3 members still use the classic protocol"]
        (back,) = way_of(runbook_of(members, "uniform"), members)["back"]
        members.take_over(back["settings"]["librdkafka"])
        members.restart(0)
        settled(members, "range")
        assert seen(members)["group_type"] == "classic"


def test_a_leader_that_sends_data_keeps_the_group_classic(stage: Stage, tmp_path: Path) -> None:
    """Brokers refuse who joins by the new protocol, until the members have left."""
    follower = "[evenkeel.engine.followers.kafka_python.PlanAssignor(plan=...)]"
    members = KafkaPython(stage, "data", {"partition_assignment_strategy": follower})
    members.plan = str(tmp_path / "plan.json")
    with closing_members(members):
        settled(members, "evenkeel-plan")
        place = ("--bootstrap", stage.bootstrap, "--strategy", "roundrobin", "--out", members.plan)
        evenkeel("plan", "--group", members.name, *place)
        members.restart(0)
        settled(members, "evenkeel-plan")
        row = told(members)
        assert row["readiness"] == "needs a full stop"
        assert row["why"] == [
            "its leader sends user data (evenkeel-plan), so brokers reject a move with members running"
        ]
        assert row["losses"] == ["evenkeel-plan has no counterpart on brokers: uniform assigns"]
        assert NO_SUCH_GROUP in refused(members)
        settled(members, "evenkeel-plan")
    await_members(members, 0)
    assert told(members)["notes"] == ["the next member that joins decides the protocol"]
    with closing_members(
        Librdkafka(stage, "data", {"group.protocol": "consumer"}, topic=members.topic)
    ) as others:
        settled(others, "uniform")
        assert told(others)["readiness"] == "moved"


SESSION = "consumer.session.timeout.ms"
CONFIGS = re.compile(r"`kafka-configs.sh --bootstrap-server ... (.*?)\.\.\.`")


@pytest.mark.nightly
def test_a_session_that_a_group_sets_is_told_before_the_move_and_holds_after_it(
    stage: Stage,
) -> None:
    """Of two groups the one with the longer session misses its stopped static member later."""
    with (
        closing_members(OneStatic(stage, "own", CLASSIC_RANGE)) as own,
        closing_members(OneStatic(stage, "usual", CLASSIC_RANGE)) as usual,
    ):
        for members in (own, usual):
            settled(members, "range")
        (command,) = CONFIGS.findall(" ".join(runbook_of(own, "uniform")["notes"]))
        run_tool(stage, "kafka.admin.ConfigCommand", *f"{command}60000".split())
        stay = "1 of 3 members are static: they stay so, a stopped one is missed after "
        notes = told(own)["notes"]
        assert f"the brokers use settings of this group: {SESSION}=60000" in notes
        assert f"{stay}1 min ({SESSION} of the group)" in notes
        assert f"{stay}45 s (group.{SESSION} of the brokers)" in told(usual)["notes"]
        for members in (own, usual):
            do(members, way_of(runbook_of(members, "uniform"), members)["rounds"])
        own.stop(0)
        usual.stop(0)
        await_members(usual, 2)
        assert len(seen(own)["members"]) == 3
        await_members(own, 2)


@pytest.fixture
def with_policy(tmp_path: Path) -> Iterator[Callable[[str], str]]:
    """Brokers with another policy of migration; their addresses."""
    with own_brokers(tmp_path) as brokers:

        def restarted(policy: str) -> str:
            for node in RACKS:
                brokers.set(node, POLICY_SETTING, policy)
                brokers.restart(node)
            return brokers.bootstrap

        yield restarted


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("policy", "readiness", "restart", "back"),
    [
        ("disabled", "needs a full stop", "all", "all"),
        ("upgrade", "ready", "rolling", "all"),
        ("downgrade", "needs a full stop", "all", "rolling"),
    ],
)
def test_what_the_policy_of_the_brokers_forbids_goes_with_all_members_stopped(
    with_policy: Callable[[str], str], policy: str, readiness: str, restart: str, back: str
) -> None:
    """There, and back."""
    with (
        Stage.on(with_policy(policy), "evenkeel-test-policy-") as stage,
        closing_members(Librdkafka(stage, policy, CLASSIC_RANGE)) as members,
    ):
        settled(members, "range")
        row = told(members)
        assert row["readiness"] == readiness
        if restart == "all":
            assert refused(members)
        whole_way(members, row, restart, back)
