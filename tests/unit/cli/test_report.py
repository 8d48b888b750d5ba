"""`evenkeel report`."""

from __future__ import annotations

import re

import pytest

from evenkeel.engine.cli import report_source, sources
from tests.unit.cli.conftest import RECORDED

pytestmark = pytest.mark.slow


def test_a_file_of_a_recording(run, tmp_path):
    """All groups are in it, and where it is and how large is said."""
    result = run("report", "--from", RECORDED)

    page = (tmp_path / "evenkeel-report.html").read_text(encoding="utf-8")
    assert result.exit_code == 0, result.output
    assert "written: evenkeel-report.html, 14 groups over 11 snapshots, 0.1 MB" in result.stderr
    assert page.count('<details class="group"') == 14
    assert "slow-member-3 processes 0.61 records/s, its peers 2 records/s" in page


@pytest.mark.parametrize(
    ("verb", "option", "file"),
    [("report", "--out", "gone/x.html"), ("backtest", "--plot", "gone/x.png")],
)
def test_a_missing_folder_is_refused_before_any_work(run, monkeypatch, verb, option, file):
    """Snapshots take minutes to evaluate; the error names the file and the option."""
    monkeypatch.setattr(sources, "stored_source", None)
    result = run(verb, "--from", RECORDED, option, file)
    assert result.exit_code == 2
    assert f"{file} cannot be written: No such file or directory." in result.stderr
    assert f"Name another place with {option}." in result.stderr


def test_some_groups_and_snapshots(run, tmp_path):
    """A pattern, and how far back is looked."""
    file = tmp_path / "some.html"
    result = run("report", "--from", RECORDED, "--group", "s*", "--snapshots", 3, "--out", file)

    assert "5 groups over 3 snapshots" in result.stderr
    assert "hot-partition" not in file.read_text(encoding="utf-8")


def test_a_group_that_is_called_like_a_script(run, tmp_path, lake):
    """The lake of the tests has a name that is not for terminals; no name is for browsers to run."""
    assert run("report", "--from", lake, "--out", "x.html").exit_code == 0

    page = (tmp_path / "x.html").read_text(encoding="utf-8")
    assert r"bad\x1b[31m[red]name" in page
    assert "\x1b" not in page


def test_of_many_groups_fewer_snapshots_are_judged(run, monkeypatch):
    """And it is said, with what helps; who says how many hears how far it is."""
    monkeypatch.setattr(report_source, "JUDGED", 14 * 4)
    monkeypatch.setattr(report_source, "FEWEST", 2)
    monkeypatch.setattr(report_source, "EVERY", 2)
    result = run("report", "--from", RECORDED)
    assert "looking at the newest 4 of 11 snapshots: there are 14 groups" in result.stderr
    assert "14 groups over 4 snapshots" in result.stderr
    assert "judged\n" not in result.stderr
    said = run("report", "--from", RECORDED, "--snapshots", 5).stderr
    assert "looking at" not in said
    assert "2 of 5 snapshots judged\n4 of 5 snapshots judged\nwritten" in said


def test_the_end_of_each_rack(run, tmp_path, monkeypatch, lake):
    """A part of the page, asked for with one option, and a line after some groups; of the groups of the pattern."""
    monkeypatch.setattr(report_source, "REHEARSED", 2)
    result = run("report", "--from", RECORDED, "--snapshots", 3, "--without-racks")
    page = (tmp_path / "evenkeel-report.html").read_text(encoding="utf-8")
    assert result.exit_code == 0, result.output
    assert "2 of 4 groups rehearsed without each rack\nwritten" in result.stderr
    assert page.count("<h3>Without rack-") == 3
    assert "8 groups cannot be simulated: no member" in page

    told = run("report", "--from", lake, "--group", "uneven", "--without-racks", "--out", "x.html")
    page = (tmp_path / "x.html").read_text(encoding="utf-8")
    assert told.exit_code == 0, told.output
    assert "for every group of the newest snapshot (1 group)" in page
    assert len(re.findall(r"<bdi>uneven</bdi><td>healthy &rarr; ", page)) == 3
