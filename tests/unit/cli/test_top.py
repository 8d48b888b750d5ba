"""`evenkeel top`: what it draws of a recording, and the snapshots it takes of a live cluster."""

from __future__ import annotations

import sys
import threading
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import pytest
from rich.layout import Layout

from evenkeel.engine import wiring
from evenkeel.engine.adapters.recording import RecordedCluster
from evenkeel.engine.cli import keyboard, sources
from evenkeel.engine.cli.command_end import NothingFound
from evenkeel.engine.cli.top_state import TopState
from evenkeel.engine.cli.top_watch import Seen, Watch, see
from evenkeel.engine.cli.verbs.top import _show
from evenkeel.engine.cli.views.top import picture
from evenkeel.engine.model.cluster_snapshot import ClusterSnapshot
from evenkeel.engine.model.errors import ClusterUnreachable, InputError
from evenkeel.engine.model.facts import finding
from tests.helpers import top_screens
from tests.helpers.snapshots import group, make_snapshot
from tests.unit.cli.conftest import lacking

TOP = TopState()
UNEVEN = TopState(group="uneven", is_open=True)


def drawn(watch: Watch, state: TopState = TOP, *size: int, **more: Any) -> list[str]:
    """The lines of a screen, some seconds after the snapshot."""
    return top_screens.drawn(watch, state, *size, **more)


@pytest.fixture
def stored(run, recording) -> Watch:
    """The recording, in a folder without configuration."""
    return Watch(see(sources.open_source(None, None, str(recording)), "*"), "*", 5)


def test_screens_are_as_they_were():
    """Made by `python -m tests.helpers.top_screens`; the documentation shows the first."""
    assert top_screens.FILE.read_text(encoding="utf-8") == top_screens.sample()


def test_every_line_is_whole_at_any_size(stored):
    """A narrow screen keeps the name and the diagnosis."""
    for width, height in ((20, 5), (40, 8), (60, 3), (300, 100)):
        for state in (TOP, UNEVEN, TopState(name="fi", is_typing=True)):
            assert drawn(stored, state, width, height)
    assert drawn(stored, width=40)[2].split() == ["GROUP", "DIAGNOSIS", "LAG"]


def test_the_selected_group_stays_on_a_short_screen(stored):
    """The list moves below its headings."""
    for row in stored.seen.groups:
        name = row["group_id"].replace("\x1b", r"\x1b")
        lines = drawn(stored, TopState(group=row["group_id"]), height=8)
        assert [line for line in lines[3:6] if line.startswith(name)]
        assert lines[-2].startswith(f"{name}: ")


def test_an_open_group_shows_its_members_and_partitions(stored):
    """The largest lag first, with the action of `lag`, and what is below the screen."""
    told = (
        "uneven: healthy, lag 3,000 … 2 members, 6 partitions … MEMBER … UTILIZATION … app-1 … 100% … 2,500"
        " … app-2 … PARTITION … orders-0 … 500 … rack-a … app-1 … orders-5 … rack-b … Esc back … q quit"
    )
    assert lacking(" ".join(drawn(stored, UNEVEN)), told) is None
    short = drawn(stored, UNEVEN, height=10)
    assert lacking(short[-1], "Esc back … lines below") is None
    scrolled = TopState(group="uneven", is_open=True, first=3)
    assert drawn(stored, scrolled, height=10)[2:5] == short[5:8]


def test_an_open_group_tells_the_unit_of_its_rates(stored):
    """Those that it shows: a group without members has no capacity."""
    told = " ".join(drawn(stored, UNEVEN))
    assert lacking(told, "CAPACITY … CAPACITY, IN, OUT: records/s") is None
    told = " ".join(drawn(stored, TopState(group="empty", is_open=True)))
    assert lacking(told, "IN … ? unknown, - not applicable; IN, OUT: records/s") is None
    assert "CAPACITY" not in told


def test_every_group_can_be_opened(stored):
    """One that could not be read, one without members, and one that is gone."""
    for row in stored.seen.groups:
        assert drawn(stored, TopState(group=row["group_id"], is_open=True))
    gone = drawn(stored, TopState(group="gone", is_open=True))
    assert gone[2] == "gone is not in the newest snapshot."


def test_a_name_filters_the_groups(stored):
    """The line of keys shows it while it is typed and afterwards."""
    lines = drawn(stored, TopState(name="EVE", is_typing=True))
    assert [line.split()[0] for line in lines[3:6] if line] == ["never", "uneven"]
    assert lines[-1] == "/EVE█  Enter keep  Esc clear"
    assert "Esc clear /EVE" in drawn(stored, TopState(name="EVE"))[-1]
    assert drawn(stored, TopState(name="x y"))[2] == "No group contains 'x y'."


def test_what_could_not_be_read_is_on_the_second_line(run, kept):
    """Beside the age of the rest."""
    unread = finding("topics_unread", quote="no broker answered")
    place = kept(make_snapshot(groups=[group("late")], problems=[unread]))
    watch = Watch(see(sources.open_source(None, None, str(place)), "*"), "*", 5)
    assert lacking(drawn(watch)[1], "3s ago; not read: … no broker answered") is None


class Live(RecordedCluster):
    """A cluster that goes on with each snapshot, and may not answer; it notes what is asked of it."""

    def __init__(self, *given: object) -> None:
        super().__init__(*given)
        self.taken, self.answers = 0, True
        self.again = threading.Event()

    def take_snapshot(self, snapshot_id: str) -> ClusterSnapshot:
        """The next one."""
        self.taken += 1
        if not self.answers:
            self.again.set()
            raise ClusterUnreachable("no broker answered.", fix="Start one.")
        return super().take_snapshot(snapshot_id)


@pytest.fixture
def cluster(run, kafka, lake, monkeypatch) -> Live:
    """The four snapshots of the recording, one after another."""
    opened = wiring.recorded(lake)
    held = Live(opened, opened.snapshots("prod", limit=9)[::-1])
    monkeypatch.setattr(wiring, "cluster", lambda settings, name: held)
    return held


def live(pattern: str = "*", every: float = 5) -> Watch:
    """That cluster after its first snapshot."""
    return Watch(see(sources.open_source("b:9092", None, None), pattern), pattern, every)


def test_rates_are_known_from_the_second_snapshot_on(cluster):
    """Each look takes one snapshot, as `lag` does; earlier ones are remembered."""
    watch = live("uneven")
    assert "1 snapshot, every 5s" in drawn(watch)[1]
    assert drawn(watch)[3].split()[:7] == ["uneven", "unknown", "3,000", "?", "?", "2", "?"]
    watch.look()
    assert (cluster.taken, watch.failure) == (2, None)
    assert "2 snapshots, every 5s" in drawn(watch)[1]
    assert drawn(watch)[3].split()[-5:-1] == ["0/s", "2", "120", "120"]


def test_a_snapshot_that_fails_leaves_the_last_values_and_their_age(cluster):
    """One line says why, until the next one is taken."""
    watch = live()
    before = drawn(watch)
    cluster.answers = False
    watch.look()
    lines = drawn(watch, age=95)
    assert lines[1] == "These values are 1m 35s old: no broker answered. Start one."
    assert lines[2:] == before[2:]
    cluster.answers = True
    watch.look()
    assert "2 snapshots" in drawn(watch)[1]


def test_as_many_snapshots_are_kept_as_metrics_look_back_on(cluster, tmp_path):
    """However long it runs."""
    (tmp_path / "evenkeel.toml").write_text("lookback = 2\n")
    watch = live()
    for _ in range(3):
        watch.look()
    source = watch.seen.source
    assert cluster.taken == 4
    assert len(source.lake.snapshots(source.cluster, limit=9)) == 3


def test_a_group_opens_after_the_lake_dropped_its_snapshot(cluster, tmp_path, monkeypatch):
    """Others are taken, of which none can be measured."""
    (tmp_path / "evenkeel.toml").write_text("lookback = 1\n")
    watch = live()
    monkeypatch.delattr("evenkeel.engine.cli.top_watch.see")
    for _ in range(3):
        watch.look()
    source = watch.seen.source
    assert source.newest not in source.lake.snapshots(source.cluster, limit=9)
    told = " ".join(drawn(watch, UNEVEN, height=40))
    assert lacking(told, "These values are … app-1 … orders-0 … 500 … app-1") is None


def test_a_screen_is_of_one_snapshot(cluster):
    """Whichever comes while it is drawn."""
    watch = live("uneven")
    first, before = watch.seen, drawn(watch)
    watch.look()
    assert drawn(watch, seen=first) == before != drawn(watch)


def test_a_key_means_what_was_on_the_screen(stored, monkeypatch):
    """Not what a snapshot that came meanwhile lists."""
    first = stored.seen
    states = []

    def pressed(seconds: float) -> list[str]:
        stored.seen = replace(first, groups=first.groups[::-1])
        return ["q"] if states[-1].is_open else ["enter"]

    def noted(watch: Watch, seen: Seen, state: TopState, *rest: object) -> Layout:
        states.append(state)
        return picture(watch, seen, state, *rest)

    monkeypatch.setattr(keyboard, "keyboard", lambda: nullcontext(pressed))
    monkeypatch.setattr("evenkeel.engine.cli.views.top.picture", noted)
    _show(stored)
    assert [state.group for state in states] == [None, first.groups[0]["group_id"]]


def test_a_group_that_is_gone_is_a_failure_of_the_snapshot(cluster):
    """At the start it ends the command."""
    first = live().seen
    with pytest.raises(NothingFound):
        see(first.source, "gone")
    watch = Watch(first, "gone", 5)
    watch.look()
    assert lacking(str(watch.failure), "no group 'gone' in cluster b-9092") is None
    assert watch.seen is first


def test_it_looks_again_until_it_ends(cluster, monkeypatch):
    """On a thread of its own."""
    monkeypatch.setattr("evenkeel.engine.cli.top_watch.SHORTEST", 0.01)
    watch = live(every=0)
    cluster.answers = False
    with watch:
        assert cluster.again.wait(60)
    assert not watch._thread.is_alive()
    assert watch.failure


def test_a_stored_snapshot_stays_until_there_is_a_newer_one(stored):
    """A lake folder that the pipeline writes is looked at again."""
    seen = stored.seen
    stored.look()
    assert stored.seen is seen
    assert stored.failure is None


def test_without_a_terminal_it_names_lag(run, recording):
    """In a pipe, a file or a script."""
    result = run("top", "--from", recording)
    assert result.exit_code == 2
    assert result.stderr == (
        "evenkeel: top needs a terminal. Use `evenkeel lag` in a pipe, a file or a script.\n"
    )


def test_a_terminal_without_a_cursor_is_none(monkeypatch):
    """As in an editor."""
    for stream in (sys.stdin, sys.stdout):
        monkeypatch.setattr(stream, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "dumb")
    assert not keyboard.is_terminal()
    monkeypatch.setenv("TERM", "xterm")
    assert keyboard.is_terminal()


def test_a_system_without_such_terminals_is_named(monkeypatch):
    """Windows has no termios."""
    monkeypatch.setitem(sys.modules, "termios", None)
    with (
        pytest.raises(InputError, match=r"Linux and macOS only. Use `evenkeel lag`"),
        keyboard.keyboard(),
    ):
        pass
