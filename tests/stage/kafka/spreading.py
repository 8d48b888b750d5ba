"""What each broker knows: the controller takes a change, and the brokers hear of it one by one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from typing import Any

from kafka.admin import KafkaAdminClient
from kafka.errors import KafkaError
from kafka.protocol.admin import DescribeAclsRequest
from kafka.protocol.metadata import MetadataRequest

from tests.stage.process import wait_until

# On a busy machine a broker may lag behind by seconds.
SPREAD_SECONDS = 120
_ANY = 1


def await_topics(admin: KafkaAdminClient, topics: Collection[str]) -> None:
    """Wait until every broker knows these topics, with a leader of each partition."""
    wanted = set(topics)
    wait_until(
        lambda: all(wanted <= _led(answer) for answer in _metadata(admin)),
        SPREAD_SECONDS,
        f"every broker to know {', '.join(sorted(wanted))}",
    )


def await_no_topics(admin: KafkaAdminClient, topics: Collection[str]) -> None:
    """Wait until no broker knows any of these topics."""
    gone = set(topics)
    wait_until(
        lambda: all(not gone & _named(answer) for answer in _metadata(admin)),
        SPREAD_SECONDS,
        f"no broker to know {', '.join(sorted(gone))}",
    )


def topics_anywhere(admin: KafkaAdminClient) -> set[str]:
    """The topics that some broker knows."""
    return set().union(*map(_named, _metadata(admin)))


def are_deleted(admin: KafkaAdminClient, chosen: Callable[[str], bool]) -> bool:
    """Whether no broker knows a topic that is chosen by its name any more; those that are left are deleted."""
    left = [topic for topic in topics_anywhere(admin) if chosen(topic)]
    for topic in left:
        # one may be gone where the others have not heard of it
        with suppress(KafkaError):
            admin.delete_topics([topic])
    return not left


def brokers_know(admin: KafkaAdminClient, nodes: Collection[int]) -> bool:
    """Whether each of these brokers answers and knows all of them."""
    try:
        answers = _ask(admin, _no_topics, nodes)
    except KafkaError:
        admin._manager.cluster.request_update()
        return False
    return all(set(nodes) <= {one.node_id for one in each.brokers} for each in answers.values())


def await_rules(admin: KafkaAdminClient, count: int) -> None:
    """Wait until every broker goes by so many access rules."""
    request = {
        "resource_type_filter": _ANY,
        "resource_name_filter": None,
        "pattern_type_filter": _ANY,
        "principal_filter": None,
        "host_filter": None,
        "operation": _ANY,
        "permission_type": _ANY,
    }

    def everywhere() -> bool:
        answers = _of_all(admin, lambda: DescribeAclsRequest(min_version=1, **request))
        return all(
            sum(len(each.acls) for each in answer.resources) == count for answer in answers.values()
        )

    wait_until(everywhere, SPREAD_SECONDS, f"every broker to go by {count} rules")


def _metadata(admin: KafkaAdminClient) -> list[Any]:
    """The answer of each broker to the question for all topics."""
    every = {"topics": None, "allow_auto_topic_creation": False}
    return list(_of_all(admin, lambda: MetadataRequest(**every)).values())


def _no_topics() -> MetadataRequest:
    return MetadataRequest(topics=[], allow_auto_topic_creation=False)


def _of_all(admin: KafkaAdminClient, request: Callable[[], Any]) -> Mapping[int, Any]:
    """The answer of each broker that is up, asked again until all of them answer."""

    def asked() -> Mapping[int, Any] | None:
        try:
            (one,) = _ask(admin, _no_topics, [None]).values()
            return _ask(admin, request, [broker.node_id for broker in one.brokers])
        except KafkaError:
            admin._manager.cluster.request_update()
            return None

    answers = wait_until(asked, SPREAD_SECONDS, "every broker to answer", interval=0.2)
    assert answers is not None
    return answers


def _ask(admin: KafkaAdminClient, request: Callable[[], Any], nodes: Collection[Any]) -> Any:
    """The answer of each of these brokers; None stands for any of them."""

    async def each() -> dict[Any, Any]:
        return {node: await admin._manager.send(request(), node_id=node) for node in nodes}

    return admin._manager.run(each)


def _named(answer: Any) -> set[str]:
    return {topic.name for topic in answer.topics if not topic.error_code}


def _led(answer: Any) -> set[str]:
    """The topics of which every partition has a leader."""
    return {
        topic.name
        for topic in answer.topics
        if not topic.error_code and all(one.leader_id >= 0 for one in topic.partitions)
    }
