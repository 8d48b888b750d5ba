"""
Groups of real members that do what `evenkeel runbook` prints, to the letter.

A follower knows nothing but the runbook: it takes over the settings of its own library, restarts the members that the
runbook names, and checks where the runbook says.
"""

from __future__ import annotations

import json
import re
import subprocess
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from typing import Any

from confluent_kafka import Consumer, KafkaError, Message

from evenkeel.engine.model.arrays import NONE
from evenkeel.engine.model.groups import Member
from tests.helpers.commands import evenkeel
from tests.helpers.kafka_stage import Stage, Watch
from tests.oracle.follower import FollowerGroupJvm
from tests.stage.kafka.brokers import RACKS
from tests.stage.kafka.jars import classpath, resolve_jars
from tests.stage.process import LocalClusterError, find_java, wait_until

COUNT = 3
"""Members of each group."""

SECONDS = 180
"""For a group to settle, on a busy machine; it takes some seconds on an idle one."""

ON = [3, 1, 2, 1, 3, 2]
"""The one broker of each partition of a topic whose members have racks."""


class Members(ABC):
    """The members of a group, each with the settings that all have; they are changed from outside."""

    client: str
    static = False
    units = COUNT
    """How many are restarted by themselves."""
    count = COUNT
    """Members that they are to the group."""
    tool = "consumer.group.ConsumerGroupCommand"
    """Kafka's command that describes such a group."""

    def __init__(
        self,
        stage: Stage,
        name: str,
        settings: Mapping[str, str],
        racks: Sequence[str] = (),
        topic: str | None = None,
    ) -> None:
        """
        Args:
            stage: Where the group is to be.
            name: Of the group, without the stage's prefix.
            settings: What all members have at first.
            racks: The rack of each member; the topic's partitions are then on one broker each.
            topic: What they read, with as many partitions; None: a topic of their own.
        """
        self.stage, self.name = stage, stage.prefix + name
        own = ON if racks else None
        self.topic = topic or stage.topic(f"{name}-topic", [0] * len(ON), on=own)
        self.settings, self.racks = dict(settings), racks
        stage.ending.callback(self.end)

    def own(self, number: int) -> dict[str, str]:
        """What a member has beside the settings of all."""
        given = {
            "bootstrap.servers": self.stage.bootstrap,
            "group.id": self.name,
            "client.id": f"m-{number}",
        }
        return given | ({"client.rack": self.racks[number]} if self.racks else {})

    def take_over(self, given: Mapping[str, str | None]) -> None:
        """Do what the runbook says to the settings."""
        for key, value in given.items():
            if value is None:
                self.settings.pop(key, None)
            else:
                self.settings[key] = value

    def restart(self, number: int) -> None:
        """One member goes and comes back with the settings of now."""
        self.stop(number)
        self.start(number)

    @abstractmethod
    def check(self) -> None:
        """
        Raises:
            AssertionError: A member was refused, or has failed otherwise.
        """

    @abstractmethod
    def start(self, number: int) -> None:
        """A member joins."""

    @abstractmethod
    def stop(self, number: int) -> None:
        """A member leaves."""

    def end(self) -> None:
        """All that are there leave."""
        for number in range(self.units):
            self.stop(number)


class Java(Members):
    """Java's consumers."""

    client = "java"

    def __init__(
        self,
        stage: Stage,
        name: str,
        settings: Mapping[str, str],
        jvm: FollowerGroupJvm,
        racks: Sequence[str] = (),
    ) -> None:
        super().__init__(stage, name, settings, racks)
        self.jvm = jvm
        self.running: set[int] = set()

    def check(self) -> None:
        """Of all members in the JVM."""
        self.jvm.owned()

    def start(self, number: int) -> None:
        """In the JVM of the test."""
        settings = self.own(number) | self.settings
        self.jvm.start(f"{self.name}-{number}", settings, [self.topic])
        self.running.add(number)

    def stop(self, number: int) -> None:
        """It closes, if it runs."""
        if number in self.running:
            self.running.remove(number)
            self.jvm.stop(f"{self.name}-{number}")


class InThreads(Members):
    """Consumers of this process, a thread each."""

    def __init__(
        self,
        stage: Stage,
        name: str,
        settings: Mapping[str, str],
        racks: Sequence[str] = (),
        topic: str | None = None,
    ) -> None:
        super().__init__(stage, name, settings, racks, topic)
        self.running: dict[int, tuple[threading.Event, threading.Thread]] = {}
        self.troubles: list[str] = []

    def check(self) -> None:
        """What the threads have noted, and whether one has ended by itself."""
        assert not self.troubles
        assert all(thread.is_alive() for _, thread in self.running.values())

    @abstractmethod
    def consumer(self, number: int) -> tuple[Callable[[], Any], Callable[[], None]]:
        """How it is polled, and how it is closed."""

    def start(self, number: int) -> None:
        """It is polled until it is stopped."""
        ending = threading.Event()
        poll, close = self.consumer(number)

        def run() -> None:
            while not ending.is_set():
                poll()
            close()

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        self.running[number] = (ending, thread)

    def stop(self, number: int) -> None:
        """It closes, if it runs."""
        ending, thread = self.running.pop(number, (None, None))
        if ending is not None and thread is not None:
            ending.set()
            thread.join(SECONDS)
            assert not thread.is_alive(), f"m-{number} of {self.name} does not close"


class Librdkafka(InThreads):
    """Consumers of librdkafka, by its Python binding."""

    client = "librdkafka"

    def consumer(self, number: int) -> tuple[Callable[[], Any], Callable[[], None]]:
        """Settings as they are; an error from which it does not recover goes among the troubles."""
        made = Consumer(self.own(number) | self.settings | {"log_level": 1})
        made.subscribe([self.topic])

        def poll() -> None:
            got: Message | None = made.poll(0.05)
            error = None if got is None else got.error()
            if error is not None and error.code() == KafkaError._FATAL:
                self.troubles.append(f"m-{number}: {error.str()}")

        return poll, made.close


def seen(members: Members) -> dict[str, Any]:
    """The group as `evenkeel elect` sees it."""
    said = evenkeel(
        "elect", "--group", members.name, "--bootstrap", members.stage.bootstrap, "--json"
    )
    return dict(json.loads(said))


def settled(members: Members, elected: str | None = None) -> None:
    """Wait until all members are in the group, it is at rest, and runs what it should."""
    latest: list[Any] = []

    def reached() -> bool:
        listed = members.stage.admin.list_groups()
        if members.name not in {each["group_id"] for each in listed}:
            return False
        now = seen(members)
        latest[:] = [now["state"], now["runs"], len(now["members"])]
        runs = elected is None or now["runs"] == elected
        whole = now["state"] == "Stable" and len(now["members"]) == members.count
        return whole and runs and at_rest(members) is not None

    try:
        wait_until(reached, SECONDS, f"{members.name} to be whole", interval=0.2)
    except Exception as problem:
        raise AssertionError(f"{problem}; last seen {latest}, wanted {elected}") from problem


def at_rest(members: Members) -> dict[int, Member] | None:
    """
    Who owns each partition of the topic; None while the group is not stable, or somebody has yet to get one.

    Between the two rebalances of a cooperative change a group is stable, too, but nobody has what moves.
    """
    group = Watch(members.stage, members.name.removeprefix(members.stage.prefix)).look().group
    table = group.partitions
    rows = zip(table.names, table.partition.tolist(), table.owner.tolist(), strict=True)
    owners = {
        partition: group.members[owner]
        for name, partition, owner in rows
        if name == members.topic and owner != NONE
    }
    return owners if group.state == "Stable" and len(owners) == len(ON) else None


def await_members(members: Members, count: int) -> None:
    """Wait until so many are in the group; of those that were stopped the static ones stay for their session."""
    what = f"{members.name} to have {count} members"
    wait_until(lambda: len(seen(members)["members"]) == count, SECONDS, what, interval=0.2)


def said_by_kafka(members: Members) -> str:
    """What the command prints that the runbook names as proof."""
    # its own limit of five seconds is too short for a JVM that starts on a busy machine
    options = ("--describe", "--state", "--group", members.name, "--timeout", "60000")
    return run_tool(members.stage, f"org.apache.kafka.tools.{members.tool}", *options)


def await_proof(members: Members, elected: str) -> None:
    """Wait until Kafka's command says what the runbook says it will; a group at rest may rebalance once more."""
    shown = ""

    def proven() -> bool:
        nonlocal shown
        shown = said_by_kafka(members)
        return re.search(rf"\s{re.escape(elected)}\s+Stable\s+{members.count}\b", shown) is not None

    try:
        wait_until(proven, SECONDS, f"Kafka's word on {members.name}")
    except LocalClusterError as problem:
        raise AssertionError(f"{problem}; it said {shown}") from problem


def run_tool(stage: Stage, tool: str, *options: str) -> str:
    """What a command of Kafka prints."""
    java, _ = find_java()
    argv = [str(java), "-cp", classpath(resolve_jars()), tool]
    argv += ["--bootstrap-server", stage.bootstrap, *options]
    return subprocess.run(argv, capture_output=True, text=True, timeout=240, check=True).stdout


def runbook_of(members: Members, strategy: str) -> dict[str, Any]:
    """The runbook, as machines get it."""
    place = ("--bootstrap", members.stage.bootstrap)
    said = evenkeel("runbook", "--group", members.name, *place, "--strategy", strategy, "--json")
    return dict(json.loads(said))


def do(members: Members, rounds: list[dict[str, Any]]) -> None:
    """One round after the other, to the letter; after each Kafka's own tool says what the runbook says."""
    for this in rounds:
        members.take_over(this["settings"].get(members.client, {}))
        if this["restart"] == "all":
            members.end()
            await_members(members, 0)
            for number in range(members.units):
                members.start(number)
        elif this["restart"] == "one" and members.static:
            members.stop(0)
            await_members(members, members.count - 1)
            members.start(0)
        else:
            for number in range(members.units if this["restart"] == "rolling" else 1):
                members.restart(number)
                settled(members)
        settled(members, this["elected"])
        await_proof(members, this["elected"] or "")
        members.check()


def across(members: Members) -> list[bool]:
    """Whether each partition is read by another rack than its broker's, once somebody owns each."""
    what = f"each partition of {members.name} to be owned"
    owners = wait_until(lambda: at_rest(members), SECONDS, what, interval=0.2)
    return [owner.rack != RACKS[ON[partition]] for partition, owner in (owners or {}).items()]


def way_of(runbook: dict[str, Any], members: Members) -> dict[str, Any]:
    """The way of the members' library."""
    (way,) = [each for each in runbook["ways"] if members.client in each["clients"]]
    return dict(way)


class closing_members(closing[Members]):  # noqa: N801  read as a function, like `closing`
    """All members started, and all stopped at the end."""

    def __init__(self, members: Members) -> None:
        super().__init__(members)
        for number in range(members.units):
            members.start(number)

    def __exit__(self, *_: object) -> None:
        self.thing.end()
