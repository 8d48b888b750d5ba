"""The workload of the tests and the demo: groups in every state worth recognising, kept alive.

``python -m tests.stage workload --bootstrap HOST:PORT`` creates topics and groups (or finds
its own from an earlier run), prints a line as each group reaches its intended state and keeps all of
them alive until SIGTERM or Ctrl-C. ``--once-settled FILE`` writes what there is to FILE when the
last has settled. ``--remove`` deletes what it created under ``--prefix``.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import threading
import time
from contextlib import closing, suppress
from pathlib import Path
from types import TracebackType

from kafka.admin import KafkaAdminClient
from kafka.errors import KafkaError

from tests.stage.process import LocalClusterError, default_home
from tests.stage.workload import settling, topics
from tests.stage.workload.groups import GROUPS, GROUPS_BY_NAME, GroupPlan
from tests.stage.workload.members import Member, SteadyProducer, make_producer
from tests.stage.workload.rebalancing import RestlessMember
from tests.stage.workload.recorded_streams import RecordedStreams
from tests.stage.workload.streams_app import NO_COMPILER, StreamsApp
from tests.stage.workload.topics import Placement

# An idle machine needs 10; on a busy one the members go on trying, and it is said.
SLOW_TO_SETTLE_SECONDS = 60
_LEAVE_SECONDS = 4.0
# The feature of the brokers that a kind of group cannot do without.
_FEATURES = {"consumer": "group.version", "streams": "streams.version"}


class Workload:
    """The topics, members and producer on one cluster. Use from one thread, which must outlive it."""

    def __init__(
        self,
        bootstrap: str,
        prefix: str = "",
        directory: Path | None = None,
        compiler: bool | None = None,
    ) -> None:
        """``compiler``: whether Java can run the Streams applications; None: as it is here."""
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
        self._may_commit = {plan.name: threading.Event() for plan in GROUPS}
        self._compiler = compiler
        self._streams: StreamsApp | RecordedStreams | None = None
        self._producer: SteadyProducer | None = None

    def __enter__(self) -> Workload:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
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
                self._seed(plan)
            self._start_members(plan, placement)
        self._producer = SteadyProducer(producer, self.prefix)

    def unsettled(self) -> list[GroupPlan]:
        """The groups that have not been seen in their intended state, looked at now."""
        states = settling.states(self._admin)
        for plan in self.plans:
            if plan.name not in self.settled and self._has_settled(plan, states):
                self.settled[plan.name] = time.monotonic() - self._began
        return [plan for plan in self.plans if plan.name not in self.settled]

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
            for plan in self.plans
        }
        left_out = {self.prefix + name: reason for name, reason in self.left_out.items()}
        about = {"bootstrap": self.bootstrap, "prefix": self.prefix, "pid": os.getpid()}
        return {**about, "groups": groups, "left_out": left_out}

    def stop(self) -> None:
        """Let every member leave its group, all at once, and end."""
        everyone = [*(m for members in self._members.values() for m in members), *self._restless]
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
        if StreamsApp.can_run() if self._compiler is None else self._compiler:
            self._streams = StreamsApp.start(self.bootstrap, self.prefix, plans, self.directory)
            return
        self.left_out |= {plan.name: NO_COMPILER for plan in plans if plan.kind == "streams"}
        for plan in plans:
            if plan.kind == "streams-classic":
                self._streams = RecordedStreams(self._admin, self.bootstrap, self.prefix, plan)
                self.played[plan.name] = NO_COMPILER

    def _seed(self, plan: GroupPlan) -> None:
        # Members of an earlier run that were killed are still there; then there are commits too.
        with suppress(KafkaError):
            topics.seed_commits(self._admin, self.prefix, plan)

    def _start_members(self, plan: GroupPlan, placement: Placement) -> None:
        numbers = range(1, plan.members + 1)
        if plan.kind == "rebalancing":
            names = tuple(self.prefix + topic for topic in plan.topics)
            group = self.prefix + plan.name
            self._restless = [RestlessMember(self.bootstrap, group, names, n) for n in numbers]
        elif plan.kind in ("classic", "consumer"):
            go = self._may_commit[plan.name]
            arguments = (self.bootstrap, self.prefix, plan)
            self._members[plan.name] = [Member(*arguments, n, placement, go) for n in numbers]

    def _has_settled(self, plan: GroupPlan, states: dict[str, str]) -> bool:
        state = states.get(self.prefix + plan.name)
        if plan.kind.startswith("streams"):
            return self._streams is not None and settling.streams_run(plan, state, self._streams)
        restless = plan.kind == "rebalancing"
        members = self._restless if restless else self._members.get(plan.name, [])
        if not settling.shape_is_right(plan, state, members):
            return False
        self._may_commit[plan.name].set()
        return not plan.lags or settling.lag_is_right(
            self._admin, self.prefix, plan, self._members[plan.name]
        )


def keep_alive(
    workload: Workload, once_settled: Path | None, asked_to_end: threading.Event
) -> None:
    """Say which group has settled as it does, write the file after the last, stay until asked."""
    for name, reason in workload.left_out.items():
        print(f"left out {workload.prefix}{name}: {reason}", flush=True)
    for name, reason in workload.played.items():
        print(f"from a recording {workload.prefix}{name}: {reason}", flush=True)
    if _watch(workload, asked_to_end):
        if once_settled:
            _write_whole(once_settled, json.dumps(workload.describe(), indent=1))
        print(f"all {len(workload.settled)} groups have settled", flush=True)
    asked_to_end.wait()


def _watch(workload: Workload, asked_to_end: threading.Event) -> bool:
    """Print a line as each group settles; whether all have before the end is asked for."""
    warn_at = time.monotonic() + SLOW_TO_SETTLE_SECONDS
    told: dict[str, float] = {}
    while not asked_to_end.wait(0.5):
        left = workload.plans
        with suppress(KafkaError):  # a broker that is just away
            left = workload.unsettled()
        for name in workload.settled.keys() - told.keys():
            purpose = GROUPS_BY_NAME[name].purpose
            seconds = f"{workload.settled[name]:5.1f} s"
            print(f"{seconds}  {workload.prefix}{name}: {purpose}", flush=True)
        told = dict(workload.settled)
        if not left:
            return True
        if time.monotonic() > warn_at:
            names = ", ".join(plan.name for plan in left)
            print(f"still not settled: {names}", file=sys.stderr, flush=True)
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
        description="Groups in every state worth recognising.",
    )
    parser.add_argument("--bootstrap", required=True, help="host:port[,host:port...]")
    parser.add_argument("--prefix", default="", help="goes before every topic and group")
    parser.add_argument("--directory", type=Path, help="for logs and state of Streams")
    parser.add_argument("--once-settled", type=Path, metavar="FILE", help="written when settled")
    parser.add_argument("--remove", action="store_true", help="delete what was created")
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
    asked_to_end = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: asked_to_end.set())
    if options.once_settled:
        options.once_settled.unlink(missing_ok=True)
    workload = Workload(options.bootstrap, options.prefix, options.directory)
    try:
        workload.start()
        keep_alive(workload, options.once_settled, asked_to_end)
    finally:
        workload.stop()
    return 0
