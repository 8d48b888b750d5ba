"""What is done to which groups: a scene is one cause, in groups of several protocols, beside groups left alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

Step = tuple[float, str, int]
"""Seconds after the first snapshot, what `run` does (a method of `Group` or `Brokers`), and to whom."""

Script = Callable[[int], Iterator[Step]]
"""The steps for so many members."""

EVERY_SECONDS = 10.0
"""From one snapshot to the next."""

SNAPSHOTS, LONG = 12, {"deploys": 37}
"""How many there are of a scene."""

FIRST = 22.0
"""When the first step is done: three snapshots are quiet, and so are the last ones."""

POLL_SECONDS = 16.0
"""`max.poll.interval.ms` where it is exceeded; the session of a classic member is as long there, as it must be."""

STALL_SECONDS = 30.0
"""How long a handler hangs."""

DYING = 3
"""The broker that dies."""

BROKER_STEPS = ("kill_broker", "stop_broker", "launch")
"""What is done to it, and so to all groups that it coordinates."""

KINDS: Mapping[str, Mapping[str, str]] = {
    "range": {"partition.assignment.strategy": "range"},
    "cooperative": {"partition.assignment.strategy": "cooperative-sticky"},
    "consumer": {"group.protocol": "consumer"},
}
"""How members take part: classic and eager, classic and incremental, KIP-848."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """
    A group of a scene.

    Attributes:
        name: Its id.
        kind: One of `KINDS`.
        cause: Why it rebalances; None: it is left alone.
        script: What is done to it.
        members: How many it has when it begins.
        static: Whether each has a `group.instance.id`.
        clients: Whose client id is whose: `own`, `new` at each start (as a pod of a Deployment), or `shared` by all.
        short: Whether it times out after `POLL_SECONDS` and not after the usual 20 s (classic).
        pattern: Whether it subscribes by a pattern.
        coordinator: The broker that coordinates it; None: whichever. Its id is then the name with a number.
    """

    name: str
    kind: str
    cause: str | None = None
    script: Script = lambda members: iter(())
    members: int = 3
    static: bool = False
    clients: str = "own"
    short: bool = False
    pattern: bool = False
    coordinator: int | None = None

    @property
    def topic(self) -> str:
        """What it reads."""
        return f"{self.name}-t"


def restarts(pace: float, away: float, how: str = "end") -> Script:
    """Each member once, one after the other; a process is *away* for so long."""

    def script(members: int) -> Iterator[Step]:
        for number in range(members):
            yield FIRST + pace * number, how, number
            yield FIRST + pace * number + away, "start", number

    return script


def again(seed: int) -> Script:
    """Four deploys, their restarts at any moment between heartbeats."""

    def script(members: int) -> Iterator[Step]:
        random = Random(seed)
        for begins in (FIRST, FIRST + 85, FIRST + 170, FIRST + 255):
            for number in range(members):
                moment = begins + 15 * number + random.uniform(0, 6)
                yield moment, "end", number
                yield moment + random.uniform(2, 6), "start", number

    return script


def crashes(_: int) -> Iterator[Step]:
    """One member is killed again and again, soon after it has started; at last it lives."""
    for number in range(6):
        yield FIRST + 7 * number, "kill", 0
        yield FIRST + 7 * number + 2, "start", 0


def scales(members: int) -> Iterator[Step]:
    """One more member, one less, and so on."""
    for number in range(4):
        yield FIRST + 18 * number, "start", members
        yield FIRST + 18 * number + 9, "end", members


def stalls(*at: float) -> Script:
    """A member does not poll for `STALL_SECONDS`."""

    def script(_: int) -> Iterator[Step]:
        for moment in at:
            yield moment, "stall", 1

    return script


def freezes(_: int) -> Iterator[Step]:
    """A member's process stands still for longer than its session."""
    yield FIRST, "freeze", 1
    yield FIRST + 33, "thaw", 1


def dies(_: int) -> Iterator[Step]:
    """A member is killed and stays away."""
    yield FIRST, "kill", 1


def resubscribes(members: int) -> Iterator[Step]:
    """Each member subscribes to one more topic, without a restart."""
    for number in range(members):
        yield FIRST + 3 * number, "subscribe", number


def replaced(members: int) -> Iterator[Step]:
    """Each member restarts with one more topic."""
    for number in range(members):
        yield FIRST + 5 * number, "end", number
        yield FIRST + 5 * number + 3, "start_with_more", number


def grows(_: int) -> Iterator[Step]:
    """A topic that the pattern matches is created."""
    yield FIRST, "create_topic", 0


def widens(_: int) -> Iterator[Step]:
    """The topic gets more partitions."""
    yield FIRST, "add_partitions", 0


def leaves(how: str) -> Script:
    """The broker that coordinates it is away for a while."""

    def script(_: int) -> Iterator[Step]:
        yield FIRST, how, DYING
        yield FIRST + 25, "launch", DYING

    return script


def nothing(_: int) -> Iterator[Step]:
    """What happens is done to all."""
    yield from ()


def scene(name: str, cause: str, script: Script, **more: Any) -> Callable[..., Plan]:
    """Makes the groups of a scene, of a variant and kind each; what all have in common is given here."""

    def plan(variant: str, kind: str = "", **own: Any) -> Plan:
        settings = {"script": script, **more, **own}
        return Plan(name=f"{name}-{variant}", kind=kind or variant, cause=cause, **settings)

    return plan


_deploy = scene("deploy", "deploy", restarts(9, 3), members=4)
_crash = scene("crash-loop", "crash loop", crashes)
_scaler = scene("scaler-flapping", "scaler flapping", scales)
_poll = scene("poll-timeout", "poll timeout", stalls(FIRST), short=True)
_session = scene("session-timeout", "session timeout", freezes, short=True)
_topics = scene("subscription-change", "subscription change", resubscribes)
_wider = scene("partitions-added", "partitions added", widens)
_killed = scene("coordinator-killed", "coordinator moved", nothing, coordinator=DYING)
_stopped = scene("coordinator-restarted", "coordinator moved", nothing, coordinator=DYING)

SCENES: Mapping[str, tuple[Plan, ...]] = {
    "deploy": (
        *map(_deploy, KINDS),
        _deploy("static", "range", static=True),
    ),
    "deploy-variants": (
        _deploy("static-consumer", "consumer", static=True),
        _deploy("renamed", "cooperative", clients="new"),
        _deploy("shared", "range", clients="shared"),
        _deploy("quick", "range", script=restarts(2, 1.5)),
    ),
    "deploys": tuple(
        _deploy(f"again-{kind}", kind, script=again(n)) for n, kind in enumerate(KINDS)
    ),
    "crash-loop": (
        *(_crash(kind, short=True) for kind in KINDS),
        _crash("static", "range", static=True),
        _crash("static-consumer", "consumer", static=True),
    ),
    "scaler-flapping": (*map(_scaler, KINDS), _scaler("renamed", "cooperative", clients="new")),
    "poll-timeout": (
        *map(_poll, KINDS),
        _poll("again", "range", script=stalls(FIRST, FIRST + 44)),
        _poll("static", "range", static=True),
    ),
    "session-timeout": (
        *map(_session, KINDS),
        _session("gone", "cooperative", script=dies),
        _session("static", "range", static=True),
    ),
    "subscription-change": (
        *map(_topics, KINDS),
        _topics("restarted", "range", script=replaced),
        _topics("pattern", "cooperative", script=grows, pattern=True),
        _topics("pattern-consumer", "consumer", script=grows, pattern=True),
    ),
    "partitions-added": tuple(map(_wider, KINDS)),
    "coordinator-killed": (
        _killed("range", script=leaves("kill_broker")),
        *map(_killed, ("cooperative", "consumer")),
        _killed("static", "range", static=True),
    ),
    "coordinator-restarted": (
        _stopped("range", script=leaves("stop_broker")),
        *map(_stopped, ("cooperative", "consumer")),
        _stopped("static", "range", static=True),
    ),
}
"""By the name of the recording."""

QUIET = (
    Plan(name="quiet-range", kind="range", coordinator=2),
    Plan(name="quiet-consumer", kind="consumer", coordinator=2),
)
"""Groups in every recording that nothing is done to."""

TAKES = (
    ("deploy",),
    ("deploy-variants",),
    ("deploys",),
    ("crash-loop", "scaler-flapping"),
    ("poll-timeout", "session-timeout"),
    ("subscription-change", "partitions-added"),
    ("coordinator-killed",),
    ("coordinator-restarted",),
)
"""Scenes that are recorded at the same time."""
