"""The corpus: recordings that anybody can read, and a truth that they bear out."""

from __future__ import annotations

import dataclasses
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pytest

from tests.corpus.compared import HEALTHY, Run, compared, runs, wrong_at
from tests.corpus.truth import FOLDER, PARTS

FILES = sorted(FOLDER.glob("*.evenkeel"))
RUNS = [pytest.param(run, id=run.name) for run in runs()]


def test_there_are_three_and_they_are_small() -> None:
    """Each with its truth; who clones the repository has them all."""
    assert [each.name for each in FILES] == ["chaos.evenkeel", "demo.evenkeel", "twins.evenkeel"]
    sizes = [each.stat().st_size for each in FOLDER.iterdir()]
    assert max(sizes) <= 300_000
    assert sum(sizes) <= 1_000_000


@pytest.mark.parametrize("run", RUNS)
def test_groups_members_and_topics_of_the_truth_are_those_of_the_recording(run: Run) -> None:
    """No group is in one of them only, and every member was seen."""
    ids = run.recording.snapshot_ids
    groups = {group["group"]: group for group in run.truth["groups"]}
    seen = set(run.recording.read("groups", ids)["group_id"].to_pylist())
    clients = set(run.recording.read("members", ids)["client_id"].to_pylist())
    topics = set(run.recording.read("partitions", ids)["topic"].to_pylist())

    assert set(groups) == seen
    for group in groups.values():
        for member in group["members"]:
            assert any(client.startswith(member["client_id"]) for client in clients)
        assert set(group["topics"]) <= {topic["topic"] for topic in run.truth["topics"]} <= topics


@pytest.mark.parametrize("run", RUNS)
def test_a_truth_has_the_documented_fields(run: Run) -> None:
    """All of them, and no other; moments are in order."""
    for place, found in objects("", run.truth):
        assert [*found] == [field.name for field in dataclasses.fields(PARTS[place])]
    began, ended = (datetime.fromisoformat(run.truth[name]) for name in ("began", "ended"))
    moments = [run.taken_at(i) for i in run.recording.snapshot_ids]
    assert abs((moments[0] - began).total_seconds()) < 0.001
    assert abs((moments[-1] - ended).total_seconds()) < 0.001
    events = [(each["at"], each["until"] or each["at"]) for each in run.truth["events"]]
    assert [at for at, _ in events] == sorted(at for at, _ in events)
    assert all(at <= until for at, until in events)


def objects(place: str, value: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """An object of a truth and those in it, each with the place of its class."""
    yield place, value
    for name, inside in value.items():
        if isinstance(inside, list):
            for each in (one for one in inside if isinstance(one, dict)):
                yield from objects(f"{place}{name}.", each)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_nothing_names_a_machine_or_a_path(path: Any) -> None:
    """Hosts are the loopback address."""
    with zipfile.ZipFile(path) as archive:
        text = archive.read("recording.json").decode()
    text += path.with_suffix(".truth.json").read_text()
    (run,) = (each for each in runs() if each.name == path.name)
    ids = run.recording.snapshot_ids
    hosts = {
        *run.recording.read("members", ids)["client_host"].to_pylist(),
        *run.recording.read("brokers", ids)["host"].to_pylist(),
    }

    assert hosts <= {"/127.0.0.1", "127.0.0.1", "", None}
    assert not re.search(r'["\s]/\w+/|\\\\|@', text)


@pytest.mark.parametrize("name", [path.stem for path in FILES])
def test_a_recording_is_read_without_evenkeel(name: str) -> None:
    """By the program beside it, in which no line is ours."""
    command = [sys.executable, "-I", str(FOLDER / "lag.py"), name]
    out = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=True).stdout
    (run,) = (each for each in runs() if each.truth["recording"] == f"{name}.evenkeel")

    assert [line.split(", ")[0] for line in out.splitlines()] == [
        group["group"] for group in run.truth["groups"]
    ]


@pytest.mark.parametrize("name", ["demo.evenkeel", "twins.evenkeel"])
def test_as_much_arrives_as_the_truth_says(name: str) -> None:
    """Between the first snapshot and the last: within 5 % where no broker was hurt."""
    (run,) = (each for each in runs() if each.name == name)
    ids = run.recording.snapshot_ids
    first, last = (ends(run, i) for i in (ids[0], ids[-1]))
    for topic in run.truth["topics"]:
        for number, expected in enumerate(arrived(topic["arrivals"], run)):
            key = topic["topic"], number
            assert last[key] - first[key] == pytest.approx(expected, rel=0.05, abs=5)


def ends(run: Run, snapshot_id: str) -> dict[tuple[str, int], int]:
    """The end offset of each partition."""
    rows = run.recording.read("partitions", [snapshot_id]).to_pylist()
    return {(row["topic"], row["partition"]): row["end_offset"] for row in rows}


def arrived(arrivals: Sequence[Mapping[str, Any]], run: Run) -> list[float]:
    """Records that each partition receives from the first snapshot to the last, by the truth."""
    span = [datetime.fromisoformat(run.truth[name]) for name in ("began", "ended")]
    begins = [max(datetime.fromisoformat(each["at"]), span[0]) for each in arrivals]
    lengths = [
        max((until - at).total_seconds(), 0.0)
        for at, until in zip(begins, [*begins[1:], span[1]], strict=True)
    ]
    rates = np.array([each["records_per_second"] for each in arrivals])
    return [float(one) for one in lengths @ rates]


def test_the_lag_of_twins_is_that_of_their_offsets() -> None:
    """Record-seconds from the last snapshot before the switch, by the recording alone."""
    (run,) = (each for each in runs() if each.truth["pairs"])
    ids = run.recording.snapshot_ids
    moments = np.array([run.taken_at(i).timestamp() for i in ids])
    for pair in run.truth["pairs"]:
        first = moments[moments <= datetime.fromisoformat(pair["switch_at"]).timestamp()].max()
        inside = (moments >= first) & (moments <= first + pair["seconds"] + 0.1)
        for name in ("goes", "stays"):
            series = [lag(run, ids[at], pair[name]) for at in np.flatnonzero(inside)]
            area = np.trapezoid(series, moments[inside])
            assert area == pytest.approx(pair[f"lag_{name}"], rel=0.001)


def lag(run: Run, snapshot_id: str, group: str) -> int:
    """End less committed, in all."""
    end, commits = ends(run, snapshot_id), run.recording.read("commits", [snapshot_id]).to_pylist()
    own = [row for row in commits if row["group_id"] == group]
    return sum(end[row["topic"], row["partition"]] - row["committed_offset"] for row in own)


def test_evenkeel_finds_what_is_wrong() -> None:
    """In the demo without a configuration, in twins that stay with rules; the rest is documented as it is."""
    groups, _ = compared()
    demo = {one.group: one for one in groups if one.run == "demo.evenkeel"}
    twins = [one for one in groups if one.run == "twins.evenkeel"]
    before = [one for one in twins if one.at == twins[0].at]

    assert {name for name, one in demo.items() if not one.agrees(one.plain)} == {"never-committed"}
    assert {one.truth for one in before} == {one.ruled for one in before} == {"skewed load"}


def test_the_capacity_of_a_member_at_its_limit_is_its_real_speed() -> None:
    """Where no broker was hurt: within 2 %, or between what it can do alone and beside busy others."""
    _, every = compared()
    speeds = [one for one in every if one.run != "chaos.evenkeel"]

    assert len(speeds) > 20
    assert [one for one in speeds if one.error > 0.02] == []


def test_what_was_done_to_brokers_shows() -> None:
    """Nothing is unread but while a broker is away, or has come back a moment ago."""
    (run,) = (each for each in runs() if each.name == "chaos.evenkeel")
    facts = [run.recording.manifest("snapshot", i).facts for i in run.recording.snapshot_ids]
    seen = [
        tuple(datetime.fromisoformat(each[name]) for name in ("started_at", "finished_at"))
        for each in facts
        if each["problems"]
    ]
    away = [each for each in run.truth["events"] if each["on"].startswith("broker")]

    assert len(away) > 5
    assert seen
    for began, ended in seen:
        # what was known of a broker that came back is known to others a moment later
        assert any(
            datetime.fromisoformat(each["at"]) <= ended
            and began - datetime.fromisoformat(each["until"]) < timedelta(seconds=20)
            for each in away
        )


def test_a_group_is_wrong_from_its_trouble_to_its_end() -> None:
    """At the end it is not any more."""
    moments = [datetime.fromisoformat(f"2026-01-01T00:00:0{n}+00:00") for n in range(4)]
    at, until = (each.isoformat() for each in moments[1:3])
    group = {"troubles": [{"what": "skewed load", "at": at, "until": until}]}

    found = [wrong_at(group, moment) for moment in moments]

    assert found == [HEALTHY, "skewed load", HEALTHY, HEALTHY]
