"""Recorded rebalances with a known cause: small, and borne out by what the brokers showed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from evenkeel.engine.adapters.recording import Recording, open_recording
from tests.corpus.truth import load
from tests.rebalances.scenes import DYING, EVERY_SECONDS, KINDS, LONG, SCENES, SNAPSHOTS
from tests.rebalances.truth import FOLDER, Gap, Rebalance, gaps, rebalances

FILES = sorted(FOLDER.glob("*.evenkeel"))


@pytest.fixture(params=FILES, ids=lambda path: path.stem)
def scene(request: pytest.FixtureRequest) -> tuple[Recording, dict[str, Any]]:
    """A recording and its truth."""
    return open_recording(request.param), load(request.param.with_suffix(".truth.json"))


def test_each_scene_is_there_and_small() -> None:
    """Who clones the repository has them."""
    assert {path.stem for path in FILES} == set(SCENES)
    assert max(path.stat().st_size for path in FOLDER.iterdir()) <= 200_000


def test_a_group_left_alone_has_no_rebalance_and_no_gap(
    scene: tuple[Recording, dict[str, Any]],
) -> None:
    """Otherwise the machine was too busy, and the recording has more causes than its truth."""
    quiet = [group for group in scene[1]["groups"] if group["cause"] is None]
    assert len(quiet) == 2
    for group in quiet:
        assert (group["steps"], group["rebalances"], group["gaps"]) == ([], [], [])


def test_epochs_and_generations_are_those_the_brokers_logged(
    scene: tuple[Recording, dict[str, Any]],
) -> None:
    """At each snapshot the group epoch of a KIP-848 group is that of its last rebalance."""
    recording, truth = scene
    began = datetime.fromisoformat(truth["began"])
    for group in truth["groups"]:
        if group["kind"] != "consumer" or not group["rebalances"]:
            continue
        for at, row in seen(recording, began, group["group"]):
            known = [one["generation"] for one in group["rebalances"] if one["at"] < at - 0.5]
            later = [one["generation"] for one in group["rebalances"] if one["at"] < at + 1.5]
            assert max(known, default=0) <= row["epoch"] <= max(later, default=row["epoch"])


def seen(
    recording: Recording, began: datetime, group: str
) -> list[tuple[float, Mapping[str, Any]]]:
    """The group's row of each snapshot, with the seconds after the first one."""
    found = []
    for snapshot_id in recording.snapshot_ids:
        at = datetime.fromisoformat(recording.manifest("snapshot", snapshot_id).facts["started_at"])
        rows = recording.read("groups", [snapshot_id], groups=[group]).to_pylist()
        found += [((at - began).total_seconds(), row) for row in rows]
    return found


def test_records_arrive_as_the_truth_counts_them(
    scene: tuple[Recording, dict[str, Any]],
) -> None:
    """Four a second in each partition, from the first snapshot to the last, besides those that came late before."""
    recording, truth = scene
    first, last = recording.snapshot_ids[0], recording.snapshot_ids[-1]
    ends = [
        {
            (row["topic"], row["partition"]): row["end_offset"]
            for row in recording.read("partitions", [snapshot_id]).to_pylist()
        }
        for snapshot_id in (first, last)
    ]
    arrived = [ends[1][key] - end for key, end in ends[0].items() if end]
    assert len(arrived) >= 12
    seconds = EVERY_SECONDS * (len(recording.snapshot_ids) - 1)
    assert min(arrived) > 0.9 * 4 * seconds or truth["recording"].startswith("coordinator")
    assert max(arrived) < 1.2 * 4 * seconds


def test_a_coordinator_that_dies_moves_its_groups_and_no_partition() -> None:
    """Another broker has them within a snapshot or two; their members and what they own stay."""
    for path in (each for each in FILES if each.stem.startswith("coordinator")):
        recording, truth = open_recording(path), load(path.with_suffix(".truth.json"))
        began = datetime.fromisoformat(truth["began"])
        for group in truth["groups"]:
            rows = [row for _, row in seen(recording, began, group["group"])]
            assert (rows[0]["coordinator"] == DYING) == (group["cause"] is not None)
            assert {row["coordinator"] for row in rows[4:]} <= {1, 2}
            assert (group["rebalances"], group["gaps"]) == ([], [])


def test_truths_are_complete(scene: tuple[Recording, dict[str, Any]]) -> None:
    """Every gap is closed by a member, in order of time."""
    recording, truth = scene
    name = truth["recording"].removesuffix(".evenkeel")
    assert len(recording.snapshot_ids) == LONG.get(name, SNAPSHOTS)
    assert {group["kind"] for group in truth["groups"]} <= set(KINDS)
    for group in truth["groups"]:
        gaps = [Gap(*each) for each in group["gaps"]]
        assert [gap.at for gap in gaps] == sorted(gap.at for gap in gaps)
        assert None not in [gap.until for gap in gaps]


def test_a_gap_is_from_the_last_owner_to_the_next() -> None:
    """Who is killed says nothing; what a member loses that has it no more counts for nothing."""
    lines = [
        line(0, "assigned", "a", [0, 1]),
        line(500, "closes", "b"),
        line(1000, "revoked", "a", [1]),
        line(2500, "assigned", "b", [1]),
        line(2600, "first", "b", [1]),
        line(9000, "assigned", "b", [0]),
        line(9500, "lost", "a", [0]),
    ]
    steps = [line(4000, "freeze", "a"), line(4500, "thaw", "a")]
    found = gaps(lines, steps, range(0, 10_000, 1000), 2, 500)
    assert found == [
        Gap("t", 1, 0.5, 2.0, 2.1, "revoked", "a", "b", 2),
        Gap("t", 0, 3.5, 8.5, None, "frozen", "a", "b", 10),
    ]


def line(at: int, what: str, member: str, partitions: Sequence[int] = ()) -> dict[str, Any]:
    """As a member writes it."""
    keys = [["t", number] for number in partitions]
    return {"at": at, "what": what, "member": member, "pid": ord(member), "partitions": keys}


def test_rebalances_are_what_coordinators_logged() -> None:
    """Of a classic group with the reason, of a KIP-848 group with what happened to a member at that moment."""
    logged = [
        f"2026-11-29 01:00:0{second} INFO [event-1] GroupMetadataManager: [GroupCoordinator id=1] {words}"
        for second, words in (
            (
                "0,999",
                "Preparing to rebalance group a in state X with old generation 0 (reason: y).",
            ),
            (
                "2,500",
                "Preparing to rebalance group a in state X with old generation 1 (reason: z).",
            ),
            ("3,000", "[GroupId b] Bumped group epoch to 5 with metadata hash 1."),
            ("3,001", "[GroupId b] Member m left the consumer group."),
            ("4,000", "[GroupId b] Bumped group epoch to 6 with metadata hash 2."),
        )
    ]
    began = round(datetime(2026, 11, 29, 1, 0, 1, tzinfo=UTC).timestamp() * 1000)
    assert rebalances([*logged, "no line of a log"], began) == {
        "a": [Rebalance(at=1.5, generation=2, reason="z")],
        "b": [
            Rebalance(at=2.0, generation=5, reason="Member m left the consumer group."),
            Rebalance(at=3.0, generation=6, reason=None),
        ],
    }
