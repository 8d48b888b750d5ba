"""
What brokers, topics and share groups are configured to: whether followers serve reads, by what brokers assign, what is
compacted, how long it is kept and where, and where share groups begin.

It takes the right DESCRIBE_CONFIGS, which a reader need not have: without it all of this is unknown, and said once. It
is asked in batches, topics of any broker, each broker of itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from kafka.protocol.admin import DescribeConfigsRequest

from ...assignors.kafka.protocol_names import BROKER_SETTING, broker_names
from ...model.coordinators import COORDINATOR_SETTINGS
from ...model.facts import Fact, note
from .connection import Connection, Unanswered
from .groups import error_text

_BATCH = 2_000
"""Topics or groups per request."""

_TOPIC, _BROKER, _GROUP = 2, 4, 32
_KINDS = {_TOPIC: "topic", _BROKER: "broker", _GROUP: "group"}
_NOT_ALLOWED = frozenset({29, 30, 31})

_SELECTOR = "replica.selector.class"
_CLEANUP, _REMOTE = "cleanup.policy", "remote.storage.enable"
_RETENTION, _RETENTION_BYTES = "retention.ms", "retention.bytes"
_SHARE_RESET = "share.auto.offset.reset"
_LEADER_SELECTOR = "org.apache.kafka.common.replica.LeaderSelector"


@dataclass(frozen=True, slots=True)
class TopicConfig:
    """
    A topic's `cleanup.policy`, sorted, `retention.ms` and `retention.bytes` (-1: unlimited), and whether older parts of
    its logs are in remote storage (KIP-405).
    """

    cleanup_policy: str | None
    retention_ms: int | None
    retention_bytes: int | None
    remote_storage: bool | None


@dataclass(slots=True)
class Configs:
    """
    What is configured, as far as it may be known.

    *topics* by name; *follower_fetching*, *group_assignors* (what KIP-848 groups can ask for) and *coordinators* (the
    other settings of that protocol, by name) by broker id; *offset_resets* has `share.auto.offset.reset` by group;
    *unknown* has a fact per cause.
    """

    topics: dict[str, TopicConfig] = field(default_factory=dict)
    follower_fetching: dict[int, bool] = field(default_factory=dict)
    group_assignors: dict[int, tuple[str, ...]] = field(default_factory=dict)
    coordinators: dict[int, dict[str, str]] = field(default_factory=dict)
    offset_resets: dict[str, str] = field(default_factory=dict)
    unknown: list[Fact] = field(default_factory=list)


async def read_configs(
    connection: Connection,
    topics: Iterable[str],
    brokers: Iterable[int],
    share_groups: Iterable[str] = (),
) -> Configs:
    """
    Args:
        connection: The conversation.
        topics: Names of the topics wanted.
        brokers: Ids of the brokers that are alive.
        share_groups: Ids of the share groups wanted (KIP-932).
    """
    configs, failed = Configs(), Counter[tuple[str, str]]()
    if not connection.supports(DescribeConfigsRequest):
        configs.unknown.append(note("configs_not_served"))
        return configs
    keys = [_CLEANUP, _RETENTION, _RETENTION_BYTES, _REMOTE]
    for batch in _batches(topics):
        for result in await _ask(connection, _TOPIC, batch, keys, None, failed):
            configs.topics[result.resource_name] = _topic(_values(result))
    for batch in _batches(share_groups):
        for result in await _ask(connection, _GROUP, batch, [_SHARE_RESET], None, failed):
            if (reset := _values(result).get(_SHARE_RESET)) is not None:
                configs.offset_resets[result.resource_name] = reset

    async def ask_broker(node: int) -> None:
        keys = [_SELECTOR, BROKER_SETTING, *COORDINATOR_SETTINGS]
        for result in await _ask(connection, _BROKER, [str(node)], keys, node, failed):
            values = _values(result)
            selector, assignors = values.get(_SELECTOR), values.get(BROKER_SETTING)
            configs.follower_fetching[node] = selector not in (None, "", _LEADER_SELECTOR)
            if assignors is not None:  # brokers before 3.7 do not know this setting
                configs.group_assignors[node] = broker_names(assignors)
            known = {name: values.get(name) for name in COORDINATOR_SETTINGS}
            configs.coordinators[node] = {name: told for name, told in known.items() if told}

    await connection.on_each(list(brokers), ask_broker)
    configs.unknown += [
        note(f"{kind}_configs_unread", quote=cause, after=count)
        if cause
        else note(f"{kind}_configs_refused", after=count)
        for (kind, cause), count in sorted(failed.items())
    ]
    return configs


def _batches(names: Iterable[str]) -> Iterator[Sequence[str]]:
    ordered = sorted(names)
    for start in range(0, len(ordered), _BATCH):
        yield ordered[start : start + _BATCH]


async def _ask(
    connection: Connection,
    kind: int,
    names: Sequence[str],
    keys: list[str],
    node: int | None,
    failed: Counter[tuple[str, str]],
) -> list[Any]:
    """The results without an error; the others are counted by cause, nothing where it is the missing right."""
    resource = DescribeConfigsRequest.DescribeConfigsResource
    request = DescribeConfigsRequest(
        resources=[
            resource(resource_type=kind, resource_name=name, configuration_keys=keys)
            for name in names
        ],
        include_synonyms=False,
        include_documentation=False,
    )
    what = _KINDS[kind]
    try:
        response = await (
            connection.ask_any(request) if node is None else connection.ask(request, node)
        )
    except Unanswered as problem:
        failed[what, str(problem)] += len(names)
        return []
    results = []
    for result in response.results:
        if result.error_code in _NOT_ALLOWED:
            failed[what, ""] += 1
        elif result.error_code:
            failed[what, error_text(result.error_code, result.error_message)] += 1
        else:
            results.append(result)
    return results


def _values(result: Any) -> dict[str, str | None]:
    return {one.name: one.value for one in result.configs}


def _topic(values: dict[str, str | None]) -> TopicConfig:
    policy = values.get(_CLEANUP)
    retention, kept_bytes = values.get(_RETENTION), values.get(_RETENTION_BYTES)
    return TopicConfig(
        cleanup_policy=None if policy is None else ",".join(sorted(policy.split(","))),
        retention_ms=None if retention is None else int(retention),
        retention_bytes=None if kept_bytes is None else int(kept_bytes),
        # brokers before 2.8 do not know this setting
        remote_storage=values.get(_REMOTE) == "true",
    )
