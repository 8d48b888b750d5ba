"""
What brokers, topics and groups are configured to: whether followers serve reads, by what brokers assign, what is
compacted, how long it is kept and where, where share groups begin, and what groups set for themselves.

It takes the right DESCRIBE_CONFIGS, which a reader need not have: without it all of this is unknown, and said once. It
is asked in batches, topics of any broker, each broker of itself. One request lists the groups that set something
(KIP-1142), so others cost nothing, however many there are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from kafka.protocol.admin import DescribeConfigsRequest, ListConfigResourcesRequest

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
_SET_BY_GROUP = 8
"""The source of a value that was set for the group; others are those of the brokers, or Kafka's."""
_LISTS_GROUPS = 1
"""From this version on ListConfigResources knows groups: Kafka 4.1."""

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
    other settings of that protocol, by name) by broker id; *offset_resets* has `share.auto.offset.reset` by share
    group, *groups* the settings that were set for a group, by name: nothing set is empty, an unknown one is missing;
    *unknown* has a fact per cause.
    """

    topics: dict[str, TopicConfig] = field(default_factory=dict)
    follower_fetching: dict[int, bool] = field(default_factory=dict)
    group_assignors: dict[int, tuple[str, ...]] = field(default_factory=dict)
    coordinators: dict[int, dict[str, str]] = field(default_factory=dict)
    offset_resets: dict[str, str] = field(default_factory=dict)
    groups: dict[str, dict[str, str]] = field(default_factory=dict)
    unknown: list[Fact] = field(default_factory=list)


async def read_configs(
    connection: Connection,
    topics: Iterable[str],
    brokers: Iterable[int],
    groups: Collection[str] = (),
    share_groups: Iterable[str] = (),
) -> Configs:
    """
    Args:
        connection: The conversation.
        topics: Names of the topics wanted.
        brokers: Ids of the brokers that are alive.
        groups: Ids of the groups wanted.
        share_groups: Those of them that are share groups (KIP-932).
    """
    configs, failed = Configs(), Counter[tuple[str, str]]()
    if not connection.supports(DescribeConfigsRequest):
        configs.unknown.append(note("configs_not_served"))
        return configs
    keys = [_CLEANUP, _RETENTION, _RETENTION_BYTES, _REMOTE]
    for batch in _batches(topics):
        for result in await _ask(connection, _TOPIC, batch, keys, None, failed):
            configs.topics[result.resource_name] = _topic(_values(result))
    await _read_groups(connection, configs, groups, frozenset(share_groups), failed)

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


async def _read_groups(
    connection: Connection,
    configs: Configs,
    groups: Collection[str],
    shared: frozenset[str],
    failed: Counter[tuple[str, str]],
) -> None:
    """Ask of share groups and of those that set something."""
    own = await _with_settings(connection, groups, failed)
    if own is not None:
        configs.groups = {name: {} for name in groups if name not in own}
    for batch in _batches(shared | (own or frozenset())):
        for result in await _ask(connection, _GROUP, batch, None, None, failed):
            name = result.resource_name
            configs.groups[name] = {
                one.name: one.value
                for one in result.configs
                if one.config_source == _SET_BY_GROUP and one.value is not None
            }
            reset = _values(result).get(_SHARE_RESET)
            if name in shared and reset is not None:
                configs.offset_resets[name] = reset


async def _with_settings(
    connection: Connection, groups: Collection[str], failed: Counter[tuple[str, str]]
) -> frozenset[str] | None:
    """
    The groups that set something; None unknown.

    Listing them takes the right that the settings of brokers take: what is missing is said of those.
    """
    if not groups or not connection.supports(ListConfigResourcesRequest, _LISTS_GROUPS):
        return None
    try:
        answer = await connection.ask_any(ListConfigResourcesRequest(resource_types=[_GROUP]))
    except Unanswered as problem:
        failed[_KINDS[_GROUP], str(problem)] += len(groups)
        return None
    if answer.error_code:
        if answer.error_code not in _NOT_ALLOWED:
            failed[_KINDS[_GROUP], error_text(answer.error_code, None)] += len(groups)
        return None
    return frozenset(one.resource_name for one in answer.config_resources).intersection(groups)


def _batches(names: Iterable[str]) -> Iterator[Sequence[str]]:
    ordered = sorted(names)
    for start in range(0, len(ordered), _BATCH):
        yield ordered[start : start + _BATCH]


async def _ask(
    connection: Connection,
    kind: int,
    names: Sequence[str],
    keys: list[str] | None,
    node: int | None,
    failed: Counter[tuple[str, str]],
) -> list[Any]:
    """
    The results without an error, with the settings of *keys* or all; the others are counted by cause, nothing where it
    is the missing right.
    """
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
