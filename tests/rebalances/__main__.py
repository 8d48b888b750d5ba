"""``python -m tests.rebalances [SCENE ...]``: record the scenes of `tests/data/rebalances` again, with their truth."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import confluent_kafka

from evenkeel.engine.adapters.recording import Recording, write_recording
from evenkeel.engine.snapshots import SNAPSHOT
from tests.corpus.truth import save
from tests.rebalances.run import PER_TICK, SESSION_SECONDS, Group, Stage
from tests.rebalances.scenes import (
    BROKER_STEPS,
    DYING,
    LONG,
    POLL_SECONDS,
    QUIET,
    SCENES,
    SNAPSHOTS,
    TAKES,
    Plan,
)
from tests.rebalances.truth import FOLDER, Rebalance, Step, Truth, gaps, lines_of, rebalances
from tests.rebalances.truth import Group as GroupTruth
from tests.stage.kafka.jars import KAFKA_VERSION
from tests.stage.process import LocalClusterError, sweep

USUAL_POLL_SECONDS = 300.0
TRIES = 3


def record(scenes: Mapping[str, Sequence[Plan]], out: Path, snapshots: int) -> None:
    """Play some scenes at the same time, and write a recording and its truth of each; again where one went wrong."""
    for left in reversed(range(TRIES)):
        wrong = _record(scenes, out, snapshots)
        if not wrong:
            return
        print(f"{', '.join(scenes)}: {wrong}; {left} tries left", flush=True)
    raise LocalClusterError(f"{', '.join(scenes)}: {wrong}")


def _record(scenes: Mapping[str, Sequence[Plan]], out: Path, snapshots: int) -> str | None:
    """Why nothing was written, if so."""
    plans = [*QUIET, *(plan for own in scenes.values() for plan in own)]
    with TemporaryDirectory() as folder:
        try:
            with Stage.on(Path(folder), plans) as stage:
                stage.play(snapshots)
            groups = dict(zip(plans, stage.groups, strict=True))
            truths = [
                truth_of(scene, [groups[plan] for plan in (*QUIET, *own)])
                for scene, own in scenes.items()
            ]
            if wrong := wrong_with(stage, truths):
                return wrong
            out.mkdir(parents=True, exist_ok=True)
            for truth in truths:
                keep(stage, truth, out)
        finally:
            sweep(Path(folder))
    return None


def wrong_with(stage: Stage, truths: Sequence[Truth]) -> str | None:
    """
    What happened besides what was to happen: on a busy machine a group left alone may lose a member, and a consumer
    that is closed while it joins may never end (seen with librdkafka 2.16).
    """
    for group in (group for truth in truths for group in truth.groups):
        if group.cause is None and (group.rebalances or group.gaps):
            return f"{group.group} was not quiet"
    for group in stage.groups:
        told = {line["pid"]: line["what"] for line in lines_of(group.log)}
        if hung := [pid for pid, what in told.items() if what == "closes"]:
            return f"{len(hung)} members of {group.plan.name} did not end"
    return None


def keep(stage: Stage, truth: Truth, out: Path) -> None:
    """Write the rows of its groups and of their topics, and the truth."""
    lake, names = Recording(), [group.group for group in truth.groups]
    own = [group for group in stage.groups if group.plan.name in names]
    topics = [topic for group in own for topic in (group.plan.topic, group.extra)]
    for snapshot_id in stage.lake.snapshot_ids:
        tables = {dataset: stage.lake.read(dataset, [snapshot_id]) for dataset in SNAPSHOT}
        for dataset, column, wanted in (
            ("groups", "group_id", names),
            ("members", "group_id", names),
            ("commits", "group_id", names),
            ("partitions", "topic", topics),
        ):
            tables[dataset] = tables[dataset].filter(tables[dataset][column].is_in(wanted))
        facts = stage.lake.manifest("snapshot", snapshot_id).facts
        lake.write("snapshot", snapshot_id, tables, facts)
    path = out / truth.recording
    size = write_recording(path, lake, lake.snapshot_ids)
    save(truth, path.with_suffix(".truth.json"))
    print(f"{path.name}: {len(lake.snapshot_ids)} snapshots, {size:,} bytes", flush=True)


def truth_of(scene: str, groups: Sequence[Group]) -> Truth:
    """What is known of the groups of a scene, and of those left alone."""
    stage = groups[0].stage
    first = stage.lake.manifest("snapshot", stage.lake.snapshot_ids[0]).facts["started_at"]
    began = round(datetime.fromisoformat(first).timestamp() * 1000)
    begun = rebalances(stage.cluster.logged(), began)
    return Truth(
        recording=f"{scene}.evenkeel",
        command=f"python -m tests.rebalances {scene}",
        kafka=KAFKA_VERSION,
        client=f"librdkafka {confluent_kafka.libversion()[0]}",
        began=first,
        groups=[truth_of_group(group, begun.get(group.plan.name, ()), began) for group in groups],
    )


def truth_of_group(group: Group, begun: Sequence[Rebalance], began: int) -> GroupTruth:
    """What was done to a group, and what it and the brokers wrote down."""
    plan, stage = group.plan, group.stage
    moved = BROKER_STEPS if plan.coordinator == DYING else ()
    done = [s for s in stage.done if s["group"] == plan.name or s["what"] in moved]
    classic = POLL_SECONDS if plan.short else SESSION_SECONDS["classic"]
    return GroupTruth(
        group=plan.name,
        kind=plan.kind,
        cause=plan.cause,
        static=plan.static,
        clients=plan.clients,
        session_seconds=SESSION_SECONDS["consumer"] if plan.kind == "consumer" else classic,
        poll_seconds=POLL_SECONDS if plan.short else USUAL_POLL_SECONDS,
        steps=[
            Step(at=(step["at"] - began) / 1000, what=step["what"], member=step["member"])
            for step in done
        ],
        rebalances=begun,
        gaps=gaps(lines_of(group.log), done, stage.ticks, PER_TICK, began),
    )


def main() -> int:
    """Record them."""
    parser = argparse.ArgumentParser(prog="python -m tests.rebalances", description=__doc__)
    parser.add_argument(
        "scene", nargs="*", metavar="SCENE", help=f"default: all: {', '.join(SCENES)}"
    )
    parser.add_argument("--out", type=Path, default=FOLDER)
    given = parser.parse_args()
    wanted = given.scene or [*SCENES]
    for take in TAKES:
        if scenes := {scene: SCENES[scene] for scene in take if scene in wanted}:
            record(scenes, given.out, max(LONG.get(scene, SNAPSHOTS) for scene in scenes))
    return 0


if __name__ == "__main__":
    sys.exit(main())
