"""The corpus: recordings that anybody can read, and what evenkeel finds in them."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from typing import Any

import pytest

from tests.corpus.compared import compared, runs
from tests.corpus.truth import FOLDER

FILES = sorted(FOLDER.glob("*.evenkeel"))


def test_there_are_three_and_they_are_small() -> None:
    """Each with its truth; who clones the repository has them all."""
    assert [each.name for each in FILES] == ["chaos.evenkeel", "demo.evenkeel", "twins.evenkeel"]
    sizes = [each.stat().st_size for each in FOLDER.iterdir()]
    assert max(sizes) <= 300_000
    assert sum(sizes) <= 1_000_000


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
