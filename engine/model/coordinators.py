"""Settings of the group coordinators for the consumer protocol (KIP-848), and what of them holds in a whole cluster."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

GROUP_VERSION = "group.version"
"""The feature that a cluster has finalized; the other names are settings of brokers."""

PROTOCOLS_SETTING = "group.coordinator.rebalance.protocols"
POLICY_SETTING = "group.consumer.migration.policy"
MOST_MEMBERS_SETTING = "group.consumer.max.size"
SESSION_SETTING = "group.consumer.session.timeout.ms"
LEAST_SESSION_SETTING = "group.consumer.min.session.timeout.ms"
HEARTBEAT_SETTING = "group.consumer.heartbeat.interval.ms"
ASSIGNMENT_SETTING = "group.consumer.assignment.interval.ms"

COORDINATOR_SETTINGS = (
    PROTOCOLS_SETTING,
    POLICY_SETTING,
    MOST_MEMBERS_SETTING,
    SESSION_SETTING,
    LEAST_SESSION_SETTING,
    HEARTBEAT_SETTING,
    ASSIGNMENT_SETTING,
)
"""Settings that brokers are asked for."""

OF_BROKERS = "group."
"""How the name of a broker's setting begins for which a group may have a value of its own, by the rest of it."""

_UPGRADES, _DOWNGRADES = {"bidirectional", "upgrade"}, {"bidirectional", "downgrade"}


@dataclass(frozen=True, slots=True, kw_only=True)
class CoordinatorSettings:
    """
    What holds on every broker that told its settings; None is unknown.

    Attributes:
        version: The finalized level of `group.version`; 0 if brokers have no such feature.
        is_enabled: Whether `group.coordinator.rebalance.protocols` has `consumer`.
        upgrades: Whether a group with members is converted when one joins by the consumer protocol.
        downgrades: Whether one is converted back when the last such member leaves.
        most_members: Most members of a group of the consumer protocol.
        session_seconds, heartbeat_seconds: Session timeout and heartbeat interval of a group that sets none.
        least_session_seconds: The shortest session timeout that a group may set.
        assignment_seconds: The interval in which a group that sets none is assigned at most once (KIP-1263).
    """

    version: int | None = None
    is_enabled: bool | None = None
    upgrades: bool | None = None
    downgrades: bool | None = None
    most_members: int | None = None
    session_seconds: float | None = None
    heartbeat_seconds: float | None = None
    least_session_seconds: float | None = None
    assignment_seconds: float | None = None

    @property
    def serves(self) -> bool | None:
        """Whether brokers let a member join by the consumer protocol; None unknown."""
        if self.version == 0 or self.is_enabled is False:
            return False
        return None if self.version is None else True


def coordinator_settings(told: Iterable[str | None]) -> CoordinatorSettings | None:
    """
    The settings of a cluster; None if no broker told them.

    Args:
        told: Those of each broker, as JSON of names to values: a name that a broker doesn't know is missing.

    >>> strict = '{"group.version": "1", "group.consumer.migration.policy": "Upgrade"}'
    >>> lenient = '{"group.version": "1", "group.consumer.migration.policy": "bidirectional"}'
    >>> found = coordinator_settings([lenient, None, strict])
    >>> found.upgrades, found.downgrades, found.version, found.session_seconds
    (True, False, 1, None)
    >>> coordinator_settings([None]) is None, coordinator_settings(['{"group.version": "0"}']).serves
    (True, False)
    """
    known: list[Mapping[str, str]] = [json.loads(one) for one in told if one]
    if not known:
        return None
    enabled = [_words(one[PROTOCOLS_SETTING]) for one in known if PROTOCOLS_SETTING in one]
    policies = [one[POLICY_SETTING].lower() for one in known if POLICY_SETTING in one]
    return CoordinatorSettings(
        version=min(_numbers(known, GROUP_VERSION), default=None),
        is_enabled=all("consumer" in one for one in enabled) if enabled else None,
        upgrades=_UPGRADES.issuperset(policies) if policies else None,
        downgrades=_DOWNGRADES.issuperset(policies) if policies else None,
        most_members=min(_numbers(known, MOST_MEMBERS_SETTING), default=None),
        session_seconds=_seconds(known, SESSION_SETTING),
        heartbeat_seconds=_seconds(known, HEARTBEAT_SETTING),
        least_session_seconds=_seconds(known, LEAST_SESSION_SETTING),
        assignment_seconds=_seconds(known, ASSIGNMENT_SETTING),
    )


@dataclass(frozen=True, slots=True)
class InForce:
    """
    A time that brokers keep for a group.

    Attributes:
        seconds: The time.
        by: The setting that says so, and whose it is.
    """

    seconds: float
    by: str


def in_force(
    setting: str, own: Mapping[str, str] | None, brokers: CoordinatorSettings | None
) -> InForce | None:
    """
    What holds for a group: its own value, else the brokers'; None if unknown.

    Args:
        setting: The broker's: `SESSION_SETTING`, `HEARTBEAT_SETTING` or `ASSIGNMENT_SETTING`.
        own: What was set for the group; None unknown.
        brokers: What was set for the brokers; None unknown.

    >>> told = CoordinatorSettings(session_seconds=45.0)
    >>> in_force(SESSION_SETTING, {}, told)
    InForce(seconds=45.0, by='group.consumer.session.timeout.ms of the brokers')
    >>> in_force(SESSION_SETTING, {"consumer.session.timeout.ms": "60000"}, told)
    InForce(seconds=60.0, by='consumer.session.timeout.ms of the group')
    >>> in_force(SESSION_SETTING, None, told) is None
    True
    """
    if own is None:
        return None
    name = setting.removeprefix(OF_BROKERS)
    if name in own:
        return InForce(int(own[name]) / 1000, f"{name} of the group")
    seconds = None if brokers is None else getattr(brokers, _TIMES[setting])
    return None if seconds is None else InForce(seconds, f"{setting} of the brokers")


_TIMES = {
    SESSION_SETTING: "session_seconds",
    HEARTBEAT_SETTING: "heartbeat_seconds",
    ASSIGNMENT_SETTING: "assignment_seconds",
}


def _words(listed: str) -> set[str]:
    return {word.strip().lower() for word in listed.split(",")}


def _numbers(known: Iterable[Mapping[str, str]], name: str) -> set[int]:
    return {int(one[name]) for one in known if name in one}


def _seconds(known: Iterable[Mapping[str, str]], name: str) -> float | None:
    """A setting in milliseconds; None if brokers differ, or don't tell it."""
    numbers = _numbers(known, name)
    return numbers.pop() / 1000 if len(numbers) == 1 else None
