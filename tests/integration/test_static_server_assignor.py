"""Static members of a KIP-848 group that request another assignor: the runbook's steps bring it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from evenkeel.engine.model.releases import REASSIGNS_AT_REQUEST, release_of
from tests.helpers.applied import (
    Librdkafka,
    at_rest,
    closing_members,
    do,
    runbook_of,
    settled,
    way_of,
)
from tests.helpers.kafka_stage import Stage, groups_with_targets
from tests.helpers.own_brokers import own_brokers
from tests.stage.kafka.jars import JAR_LISTS, KAFKA_VERSION, NEWER_VERSION

pytestmark = [pytest.mark.nightly, pytest.mark.kafka, pytest.mark.timeout(1500)]

SESSION = ("group.consumer.min.session.timeout.ms", "group.consumer.session.timeout.ms")


class Static(Librdkafka):
    """Members with an instance id each."""

    static = True

    def own(self, number: int) -> dict[str, str]:
        """With the id that stays over restarts."""
        return super().own(number) | {"group.instance.id": f"i-{number}"}


@pytest.fixture(params=[KAFKA_VERSION, NEWER_VERSION])
def release(request: pytest.FixtureRequest) -> str:
    """Each release that behaves its own way."""
    assert request.param in JAR_LISTS
    return str(request.param)


@pytest.fixture
def stage(release: str, tmp_path: Path) -> Iterator[Stage]:
    """Brokers of the release, whose sessions end soon."""
    with (
        own_brokers(tmp_path, version=release, settings=dict.fromkeys(SESSION, "10000")) as brokers,
        Stage.on(brokers.bootstrap, "evenkeel-test-static-") as made,
    ):
        yield made


def test_what_the_runbook_says_brings_the_new_assignor_to_static_members(
    stage: Stage, release: str
) -> None:
    """Before 4.4 restarts alone change the shown assignor only, and the last step assigns; from 4.4 on they suffice."""
    asking = {"group.protocol": "consumer", "group.remote.assignor": "range"}
    members = Static(stage, "static", asking)
    with closing_members(members):
        settled(members, "range")
        before = shares(members)
        way = way_of(runbook_of(members, "uniform"), members)
        restarts = [each["restart"] for each in way["rounds"]]
        newer = (release_of(release) or ()) >= REASSIGNS_AT_REQUEST
        assert restarts == (["rolling"] if newer else ["rolling", "one"])
        last = target_epoch(members)
        do(members, way["rounds"][:1])
        # the restarts of static members alone bring no new epoch
        assert (target_epoch(members) > last) is newer
        do(members, way["rounds"][1:])
        assert target_epoch(members) > last
        assert shares(members) == before


def shares(members: Static) -> list[int]:
    """How many partitions each has, ascending."""
    owners = [one.id for one in (at_rest(members) or {}).values()]
    return sorted(owners.count(each) for each in set(owners))


def target_epoch(members: Static) -> int:
    """The epoch of the assignment that the group has."""
    groups = groups_with_targets(members.stage.bootstrap, members.name, members.topic)
    return groups[members.name].epoch or 0
