"""What `advise` prints: a fleet worst first within 120 columns, and one group from its problem to the next command."""

from __future__ import annotations

import csv
import io
import re
import sys
from dataclasses import replace

import pytest
from rich.cells import cell_len

from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.cli import sources
from evenkeel.engine.cli.local_mode import judge
from evenkeel.engine.cli.views.fleet import Fleet, order, show_fleet
from evenkeel.engine.cli.views.tables import WIDTH
from evenkeel.engine.config import Settings
from evenkeel.engine.snapshots import split_snapshot_id
from tests.helpers.snapshots import group, make_snapshot, member, topic
from tests.unit.cli.conftest import DATA, RECORDED, objects, words_of

GOLDEN = DATA / "advise.txt"
STYLE = re.compile(r"\x1b\[[0-9;]*m")


class Screen(io.StringIO):
    """A terminal."""

    def isatty(self):
        """It is one."""
        return True


def shown(fleet, monkeypatch, columns, **how):
    """The lines of a fleet on a terminal of so many columns, or in a pipe."""
    out = io.StringIO() if columns is None else Screen()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", out)
        patch.setenv("COLUMNS", str(columns))
        patch.setenv("LINES", "50")
        patch.setenv("TERM", "xterm")
        show_fleet(fleet, **how)
    return [line.rstrip() for line in STYLE.sub("", out.getvalue()).splitlines()]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """The fourteen groups of the recording, judged once, without any configuration."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("recorded"))
        patch.delenv("EVENKEEL_CONFIG", raising=False)
        return _fleet(sources.stored_source(str(RECORDED), None))


@pytest.fixture(scope="module")
def few(lake):
    """The seven of the lake of the tests, which has a group whose name is not for terminals."""
    return _fleet(sources.from_lake(Settings(), FileLake(lake), "prod", "lake"))


def _fleet(source):
    return Fleet(
        groups=judge(source),
        cluster=source.cluster,
        taken_at=split_snapshot_id(source.newest)[1],
        snapshots=len(source.ids(source.settings.lookback + 1)),
        settings=source.settings,
    )


def renamed(fleet, name):
    """The same groups under other names."""
    groups = [
        replace(
            one,
            advice=replace(one.advice, group=name(one.advice.group)),
            metrics={**one.metrics, "group_id": name(one.advice.group)},
        )
        for one in fleet.groups
    ]
    return replace(fleet, groups=groups)


@pytest.mark.slow
def test_the_recording_reads_as_it_was_reviewed(recorded, monkeypatch):
    """In a pipe, on narrow terminals and on wide ones, which get no wider table."""
    parts = {
        "in a pipe": shown(recorded, monkeypatch, None),
        "80 columns": shown(recorded, monkeypatch, 80),
        "120 columns": shown(recorded, monkeypatch, 120),
    }
    told = [line for name, lines in parts.items() for line in (f"=== {name}", *lines)]
    assert told == GOLDEN.read_text(encoding="utf-8").splitlines()
    assert shown(recorded, monkeypatch, 200) == parts["120 columns"]


@pytest.mark.slow
@pytest.mark.parametrize(("columns", "every"), [(None, True), (80, False), (200, True)])
def test_no_name_makes_a_line_too_long(recorded, monkeypatch, columns, every):
    """Long names are cut in the middle; what is not for terminals stays escaped."""
    fleet = renamed(recorded, lambda name: f"{name}\x1b[31m{'長い' * 40}{name}")
    lines = shown(fleet, monkeypatch, columns, every=every)
    limit = min(columns or WIDTH, WIDTH)
    assert [line for line in lines if cell_len(line) > limit] == []
    assert all(line.isprintable() for line in lines)
    rows = [line for line in lines if line.startswith("skew")]
    assert rows
    assert all("…" in line for line in rows)


def test_the_worst_is_on_top_and_what_is_healthy_is_counted(few, monkeypatch):
    """By diagnosis; the healthy one that may change is a row, the other is named below, and `--all` lists it."""
    lines = shown(few, monkeypatch, None)
    start = next(place for place, line in enumerate(lines) if line.startswith("GROUP"))
    names = [line.split()[0] for line in lines[start + 1 : start + 7]]
    assert names == ["empty", "moving", "bad\\x1b[31m[red]name", "locked", "never", "uneven"]
    assert lines[start + 7] == "1 healthy group, no change advised: fine (--all shows them)"
    assert lines[:2] == [
        "Cluster prod: 7 groups, 4 snapshots, newest 2026-03-01 12:15 UTC (local run: not validated, not stored)",
        "1 switch pending, 2 groups behind, 5 not evaluated",
    ]
    everything = shown(few, monkeypatch, None, every=True)
    assert [line for line in everything if line.startswith("fine ")]
    assert "--all" not in "".join(everything)


def test_the_legend_explains_what_there_is(few, monkeypatch):
    """Nothing of a sign or a state that no row has."""
    fine = [one for one in few.groups if one.advice.group == "fine"]
    told = " ".join(shown(replace(few, groups=fine), monkeypatch, None, every=True))
    assert "pending" not in told
    assert "X-RACK:" not in told
    assert "? unknown; BEHIND: time lag beyond the commit interval" in told
    assert "pending: would help, but there is not enough evidence yet" in words_of(
        " ".join(shown(few, monkeypatch, None))
    )


def test_groups_of_one_diagnosis_are_sorted_by_how_far_they_are_behind(few):
    """Then by lag, then by name; unknown comes last."""
    one = next(one for one in few.groups if one.advice.group == "moving")
    known = [
        replace(one, metrics={**one.metrics, "delay_seconds": behind, "total_lag": lag})
        for behind, lag in ((None, None), (5.0, 1), (60.0, 1), (60.0, 9))
    ]
    assert sorted(known, key=order) == [known[3], known[2], known[1], known[0]]


def test_machines_get_everything(told, recording):
    """CSV has the keys of the objects, `--wide` the columns of before; two formats exclude each other."""
    rows = objects(told("advise", "--from", recording, "--json"))
    shown = told("advise", "--from", recording, "--csv").stdout
    assert (shown.isascii(), "\x1b" in shown, r"bad\x1b" in shown) == (True, False, True)
    raw = told("advise", "--from", recording, "--csv", "--raw").stdout
    lines = list(csv.DictReader(io.StringIO(raw)))
    assert [(row["group"], row["verdict"]) for row in lines] == [
        (row["group"], row["verdict"]) for row in rows
    ]
    assert set(lines[0]) == set(rows[0])
    wide = told("advise", "--from", recording, "--wide").stdout.splitlines()[0]
    heads = (
        "Group State Members Partitions Lag (offsets) Skew Cross rack Status Diagnosis Verdict Why"
    )
    assert words_of(wide) == heads
    assert told("advise", "--from", recording, "--json", "--csv").exit_code == 2


@pytest.mark.slow
def test_one_group_is_told_from_its_problem_to_the_next_command(told):
    """Labelled lines, what it can have with the current one first, and the others by reason."""
    text = told("advise", "--from", RECORDED, "--group", "skewed-load").stdout
    lines = text.splitlines()
    head = "skewed-load (demo): Stable, classic protocol, range, 3 members, 12 partitions; 2026-11-22 16:39 UTC"
    assert lines[0] == head
    labels = [line.split()[0] for line in lines[2:9] if line[2] != " "]
    assert labels == ["Problem", "Action", "Advice", "Effect", "Cost", "Next"]
    assert "A rebalance pauses this" in lines[6]
    assert lines[7].strip() == "group 5 s (assumed), a restart takes 30 s (assumed)."
    assert (
        "Lag in 1 h 15.5k -> 22 (p10-p90: 13.1k-17.3k -> 0-44), caught up in 6 to 10 min." in text
    )
    assert "evenkeel runbook --group skewed-load --strategy roundrobin" in lines[8]
    table = lines.index("") and [line.split("  ")[0] for line in lines[11:17]]
    assert table[:2] == ["range (current)", "roundrobin"]
    place = lines.index("  balanced, drain: needs members that follow plans (evenkeel-plan)")
    assert lines[place + 1] == "    evenkeel runbook --group skewed-load --strategy balanced"
    assert max(map(len, lines)) <= WIDTH
    assert "payments-0" not in text
    moves = told("advise", "--from", RECORDED, "--group", "skewed-load", "--moves").stdout
    assert "  payments-0: skewed-load-1 -> skewed-load-2" in moves.splitlines()


@pytest.mark.slow
def test_a_finding_names_the_group_in_its_command(told):
    """Whoever copies it gets the group that was asked about."""
    text = words_of(told("advise", "--from", RECORDED, "--group", "racks-ignored").stdout)
    assert "evenkeel runbook --group racks-ignored --strategy racks-server" in text
    assert "GROUP" not in text


def test_a_long_name_is_cut_but_in_commands(run, kept):
    """What is copied is whole; nothing else is wider than the table may be."""
    name = "it's a very-long-name-" * 11
    members = [
        member("a", ["t"], {"t": [0, 1, 2]}, rack="rack-b"),
        member("b", ["t"], {"t": [3]}, rack="rack-a"),
    ]
    place = kept(make_snapshot(topics=[topic("t", 4)], groups=[group(name, members=members)]))
    lines = run("advise", "--from", place, "--group", "it*").stdout.splitlines()
    assert lines[0].startswith("it's a very-long-name-it's a v…")
    long = [line for line in lines if len(line) > WIDTH]
    assert all(" evenkeel " in line and "'it'" in line for line in long)


def test_a_name_is_quoted_where_it_is_copied(told, recording):
    """As one word of a shell, without what a terminal would act on."""
    text = told("advise", "--from", recording, "--group", "bad*").stdout
    assert "evenkeel elect --group 'bad??31m?red?name' --to STRATEGY" in text
    assert "\x1b" not in text
