"""The workload of the tests and the demo: groups in every state worth recognizing, kept alive.

``python -m tests.stage workload --bootstrap HOST:PORT`` creates topics and groups (or finds
its own from an earlier run), prints a line as each group reaches its intended state and keeps all of
them alive until SIGTERM or Ctrl-C. ``--once-settled FILE`` writes what there is to FILE when the
last has settled. ``--remove`` deletes what it created under ``--prefix``.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
import time
from contextlib import closing, suppress
from pathlib import Path

from kafka.admin import KafkaAdminClient
from kafka.errors import KafkaError

from tests.stage.process import LocalClusterError, asked_to_end, default_home, wait_until
from tests.stage.workload import settling, topics
from tests.stage.workload.following import FollowingMember, plan_of
from tests.stage.workload.groups import GROUPS, GROUPS_BY_NAME, GroupPlan
from tests.stage.workload.members import Member, SteadyProducer, make_producer
from tests.stage.workload.rebalancing import RestlessMember
from tests.stage.workload.recorded_streams import RecordedStreams
from tests.stage.workload.sharing import ShareMember, begin_at_the_first
from tests.stage.workload.streams_app import NO_COMPILER, StreamsApp
from tests.stage.workload.topics import Placement

# An idle machine needs 10; on a busy one the members go on trying, and it is said.
SLOW_TO_SETTLE_SECONDS = 60
# Two seconds on an idle machine.
_LEAVE_SECONDS = 20.0
_RESTART_SECONDS = 60.0
# The feature of the brokers that a kind of group cannot do without.
_FEATURES = {
    "consumer": "group.version",
    "share": "share.version",
    "streams": "streams.version",
}


class Workload:
    """The topics, members and producer on one cluster. Use from one thread, which must outlive it."""

    def __init__(self, bootstrap: str, prefix: str = "", directory: Path | None = None) -> None:
        topics.refuse_strangers(bootstrap, prefix)
        self.bootstrap = bootstrap
        self.prefix = prefix
        self.directory = directory or default_home() / "workload"
        self.left_out: dict[str, str] = {}
        """Why a group cannot be had here, by its plan's name."""
        self.played: dict[str, str] = {}
        """Why a group's members are played from a recording, by its plan's name."""
        self.settled: dict[str, float] = {}
        """Seconds from the start until each group was seen settled, by its plan's name."""
        self._began = time.monotonic()
        self._admin = KafkaAdminClient(bootstrap_servers=bootstrap.split(","))
        self._members: dict[str, list[Member]] = {}
        self._restless: list[RestlessMember] = []
        self._sharing: list[ShareMember] = []
        self._may_commit = {plan.name: threading.Event() for plan in GROUPS}
        self._streams: StreamsApp | RecordedStreams | None = None
        self._producer: SteadyProducer | None = None

    def __enter__(self) -> Workload:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def plans(self) -> list[GroupPlan]:
        """The groups that can be had on this cluster."""
        return [plan for plan in GROUPS if plan.name not in self.left_out]

    def start(self) -> None:
        """Create what is missing and start all members; they settle by and by."""
        self._began = time.monotonic()
        self._leave_out_unsupported()
        placement = Placement.of(self._admin)
        topics.create_topics(self._admin, self.prefix, placement)
        self._start_streams()  # first: a JVM is slow, and all it needs is its topic
        producer = make_producer(self.bootstrap, self.prefix)
        topics.fill(self._admin, producer, self.prefix)
        for plan in self.plans:
            if plan.commits:
                topics.seed_commits(self._admin, self.prefix, plan)
            self._start_members(plan, placement)
        self._producer = SteadyProducer(producer, self.prefix)

    def unsettled(self) -> list[GroupPlan]:
        """The groups that have not been seen in their intended state, looked at now."""
        states = settling.states(self._admin)
        for plan in self.plans:
            if plan.name not in self.settled and self._has_settled(plan, states):
                self.settled[plan.name] = time.monotonic() - self._began
        return [plan for plan in self.plans if plan.name not in self.settled]

    def as_intended(self) -> bool:
        """
        Whether every group is in its intended state at this look.

        After they all were, one by one: what a member owns may be seen before its coordinator hears of it.
        """
        states = settling.states(self._admin)
        return all(self._has_settled(plan, states) for plan in self.plans)

    def describe(self) -> dict[str, object]:
        """What there is: for each group its purpose, kind, topics and the members expected."""
        groups = {
            self.prefix + plan.name: {
                "purpose": plan.purpose,
                "kind": plan.kind,
                "topics": [self.prefix + topic for topic in plan.topics],
                "members": plan.members,
                "owned": list(plan.owned),
            }
            | ({"plan": str(self._plan_of(plan))} if plan.follows else {})
            for plan in self.plans
        }
        left_out = {self.prefix + name: reason for name, reason in self.left_out.items()}
        about = {"bootstrap": self.bootstrap, "prefix": self.prefix, "pid": os.getpid()}
        return {**about, "groups": groups, "left_out": left_out}

    def restart_asked(self) -> None:
        """Restart a member of each group of which that was asked, by a file of its name."""
        for asked in restarts(self.directory).glob("*"):
            for plan in self.plans:
                if self.prefix + plan.name == asked.name and plan.name in self._members:
                    self._restart(plan)
            asked.unlink(missing_ok=True)

    def _restart(self, plan: GroupPlan) -> None:
        """Let the group's first member leave, and come back: not before, or the group would rebalance a third time."""
        members = self._members[plan.name]
        members[0].ask_to_end()
        members[0].join(_LEAVE_SECONDS)
        members[0] = self._member(plan, 1, members[0].placement)

    def stop(self) -> None:
        """Let every member leave its group, all at once, and end."""
        everyone = [
            *(m for members in self._members.values() for m in members),
            *self._restless,
            *self._sharing,
        ]
        for member in everyone:
            member.ask_to_end()
        if self._producer:
            self._producer.stop(1.0)
        if self._streams:
            self._streams.stop()
        deadline = time.monotonic() + _LEAVE_SECONDS
        late = [m for m in everyone if not m.join(max(0.0, deadline - time.monotonic()))]
        if late:
            print(f"{len(late)} members did not leave within {_LEAVE_SECONDS:g} s", file=sys.stderr)
        with suppress(KafkaError):  # the brokers may be gone before us
            topics.remove_static_members(self._admin, self.prefix)
        self._admin.close()

    def _leave_out_unsupported(self) -> None:
        features = self._admin.describe_features()
        for plan in GROUPS:
            feature = _FEATURES.get(plan.kind)
            if feature and features.get(feature, {}).get("finalized", (0, 0))[1] < 1:
                self.left_out[plan.name] = f"the brokers have no {feature}"

    def _start_streams(self) -> None:
        plans = [plan for plan in self.plans if plan.kind.startswith("streams")]
        if StreamsApp.can_run():
            self._streams = StreamsApp.start(self.bootstrap, self.prefix, plans, self.directory)
            return
        self.left_out |= {plan.name: NO_COMPILER for plan in plans if plan.kind == "streams"}
        for plan in plans:
            if plan.kind == "streams-classic":
                self._streams = RecordedStreams(self._admin, self.bootstrap, self.prefix, plan)
                self.played[plan.name] = NO_COMPILER

    def _start_members(self, plan: GroupPlan, placement: Placement) -> None:
        numbers = range(1, plan.members + 1)
        if plan.kind == "rebalancing":
            names = tuple(self.prefix + topic for topic in plan.topics)
            group = self.prefix + plan.name
            self._restless = [RestlessMember(self.bootstrap, group, names, n) for n in numbers]
        elif plan.kind == "share":
            begin_at_the_first(self._admin, self.prefix + plan.name)
            self._sharing = [ShareMember(self.bootstrap, self.prefix, plan, n) for n in numbers]
        elif plan.kind in ("classic", "consumer"):
            if plan.follows:
                # what an earlier run was told to do is not what this group is there to show
                self._plan_of(plan).parent.mkdir(parents=True, exist_ok=True)
                self._plan_of(plan).unlink(missing_ok=True)
            self._members[plan.name] = [self._member(plan, n, placement) for n in numbers]

    def _member(self, plan: GroupPlan, number: int, placement: Placement) -> Member:
        arguments = (self.bootstrap, self.prefix, plan, number, placement)
        go = self._may_commit[plan.name]
        if plan.follows:
            return FollowingMember(*arguments, go, at=self._plan_of(plan))
        return Member(*arguments, go)

    def _plan_of(self, plan: GroupPlan) -> Path:
        return plan_of(self.directory, self.prefix + plan.name)

    def _has_settled(self, plan: GroupPlan, states: dict[str, str]) -> bool:
        state = states.get(self.prefix + plan.name)
        if plan.kind.startswith("streams"):
            return self._streams is not None and settling.streams_run(plan, state, self._streams)
        if plan.kind == "share":
            return state == "Stable" and all(member.done for member in self._sharing)
        restless = plan.kind == "rebalancing"
        members = self._restless if restless else self._members.get(plan.name, [])
        if not settling.shape_is_right(plan, state, members):
            return False
        self._may_commit[plan.name].set()
        return not plan.lags or settling.lag_is_right(
            self._admin, self.prefix, plan, self._members[plan.name]
        )


def restarts(directory: Path) -> Path:
    """The folder in which a file of a group's name asks for a restart of one of its members."""
    return directory / "restart"


def restart(directory: Path, group: str) -> None:
    """
    Restart a member of a group of the workload that runs with that directory.

    Raises:
        LocalClusterError: Nothing restarts it.
    """
    asked = restarts(directory) / group
    asked.parent.mkdir(parents=True, exist_ok=True)
    asked.touch()
    try:
        wait_until(lambda: not asked.exists(), _RESTART_SECONDS, "the workload", interval=0.1)
    finally:
        asked.unlink(missing_ok=True)


def restart_main(arguments: list[str]) -> int:
    """The verb ``restart``."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.stage restart",
        description="Restart a member of a group, so that the group rebalances.",
    )
    parser.add_argument("group", choices=[plan.name for plan in GROUPS if plan.kind == "classic"])
    restart(default_home() / "demo" / "workload", parser.parse_args(arguments).group)
    print("Restarted one member.")
    return 0


def keep_alive(workload: Workload, once_settled: Path | None, ended: threading.Event) -> None:
    """Say which group has settled as it does, write the file after the last, stay until asked."""
    for name, reason in workload.left_out.items():
        print(f"skipped {workload.prefix}{name}: {reason}", flush=True)
    for name, reason in workload.played.items():
        print(f"from a recording {workload.prefix}{name}: {reason}", flush=True)
    if _watch(workload, ended):
        if once_settled:
            _write_whole(once_settled, json.dumps(workload.describe(), indent=1))
        print(f"all {len(workload.settled)} groups are ready", flush=True)
    while not ended.wait(0.5):
        workload.restart_asked()


def _watch(workload: Workload, ended: threading.Event) -> bool:
    """Print a line as each group settles; whether all have before the end is asked for."""
    warn_at = time.monotonic() + SLOW_TO_SETTLE_SECONDS
    told: dict[str, float] = {}
    while not ended.wait(0.5):
        left, whole = workload.plans, False
        with suppress(KafkaError):  # a broker that is just away
            left = workload.unsettled()
            whole = not left and workload.as_intended()
        for name in workload.settled.keys() - told.keys():
            purpose = GROUPS_BY_NAME[name].purpose
            seconds = f"{workload.settled[name]:5.1f} s"
            print(f"{seconds}  {workload.prefix}{name}: {purpose}", flush=True)
        told = dict(workload.settled)
        if whole:
            return True
        if time.monotonic() > warn_at:
            names = ", ".join(plan.name for plan in left)
            print(f"not ready in time: {names or 'not all at once'}", file=sys.stderr, flush=True)
            warn_at = time.monotonic() + SLOW_TO_SETTLE_SECONDS
    return False


def _write_whole(path: Path, text: str) -> None:
    """Who waits for the file must never read half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".partial")
    partial.write_text(text)
    partial.rename(path)


def main(arguments: list[str]) -> int:
    """Run the workload, or remove it."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.stage workload",
        description="Run consumer groups in all interesting states.",
    )
    parser.add_argument("--bootstrap", required=True, help="host:port[,host:port...]")
    parser.add_argument("--prefix", default="", help="prefix of every topic and group")
    parser.add_argument("--directory", type=Path, help="folder for logs and Streams state")
    parser.add_argument(
        "--once-settled", type=Path, metavar="FILE", help="file to write when all groups are ready"
    )
    parser.add_argument(
        "--remove", action="store_true", help="delete the created groups and topics"
    )
    options = parser.parse_args(arguments)
    try:
        if options.remove:
            topics.refuse_strangers(options.bootstrap, options.prefix)
            with closing(KafkaAdminClient(bootstrap_servers=options.bootstrap.split(","))) as admin:
                topics.remove(admin, options.prefix)
            return 0
        return _run(options)
    except (LocalClusterError, KafkaError) as error:
        print(f"{options.bootstrap}: {error}", file=sys.stderr)
        return 1


def _run(options: argparse.Namespace) -> int:
    ended = asked_to_end()
    if options.once_settled:
        options.once_settled.unlink(missing_ok=True)
    workload = Workload(options.bootstrap, options.prefix, options.directory)
    try:
        workload.start()
        keep_alive(workload, options.once_settled, ended)
    finally:
        workload.stop()
    return 0
