"""`evenkeel silence` and `evenkeel ack`."""

from __future__ import annotations

import shlex
from datetime import timedelta

import pytest

from evenkeel.engine import wiring
from evenkeel.engine.model.states import IncidentState
from evenkeel.engine.records import SilenceKind
from tests.helpers.history_rows import manifest, metrics
from tests.helpers.incidents import course
from tests.helpers.memory import MemoryHistory
from tests.helpers.silenced import HOUR, NOW, silence

WHY = ("--reason", "moving")


@pytest.fixture
def history(monkeypatch, run):
    """A history of one cluster whose newest snapshot has three groups; it is noon."""
    known = MemoryHistory(lambda: NOW)
    taken = manifest()
    known.store_snapshot(taken)
    groups = {name: [0] for name in ("orders-app", "orders-api", "pay[1]")}
    known.store_metrics(taken.snapshot_id, metrics(taken.snapshot_id, groups=groups))
    monkeypatch.setattr(wiring, "history", lambda settings: known)
    monkeypatch.setattr("evenkeel.engine.model.moments.utc_now", lambda: NOW)
    monkeypatch.setenv("EVENKEEL_DATABASE_URL", "postgresql://db/history")
    monkeypatch.delenv("EVENKEEL_USER", raising=False)
    return known


def opened(history, *groups, opened_at=NOW - HOUR, **known):
    """Incidents of some groups are open."""
    courses = [course(name, opened_at=opened_at, **known) for name in groups]
    assert history.store_watch("demo", "demo-1", NOW, courses, [], [], before=None)


def test_a_silence_is_kept_with_who_and_why(run, history, monkeypatch):
    """It says what it covers, until when, and how it ends early; who types is known, and may say otherwise."""
    monkeypatch.setenv("EVENKEEL_USER", "ana")
    result = run("silence", "--group", "orders-*", "--for", "1d 2h", *WHY)
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines() == [
        "silence 1: no alerts about orders-* (2 groups now) until 2026-11-23 14:00:00 UTC (1 d 2 h)",
        "to end it early: evenkeel silence --end 1",
    ]
    run(
        "silence",
        "--group",
        "x",
        "--until",
        "2026-11-22T14:00+01:00",
        "--cluster",
        "eu-*",
        "--by",
        "bo",
        *WHY,
    )
    first, second = history.silences(NOW)
    assert (first.who, first.reason, first.starts_at) == ("ana", "moving", NOW)
    assert (second.who, second.cluster, second.ends_at) == ("bo", "eu-*", NOW + HOUR)


def test_a_silence_may_begin_later(run, history):
    """Its span counts from its beginning."""
    result = run(
        "silence", "--group", "orders-*", "--from", "2026-11-23T00:00Z", "--for", "2h", *WHY
    )
    assert "from 2026-11-23 00:00:00 UTC until 2026-11-23 02:00:00 UTC (2 h)" in result.stdout
    (planned,) = history.silences(NOW)
    assert (planned.starts_at - NOW, planned.holds(NOW)) == (12 * HOUR, False)


REFUSED = {
    "--reason why": "a silence needs an end. Add --for 2h",
    "--reason why --for 2h --until 2026-11-23T06:00Z": "--until and --for exclude each other",
    "--reason why --for '2 fortnights'": "--for: '2 fortnights' is no span of time: write 90m, 2h",
    "--reason why --until tomorrow": "--until: 'tomorrow' is no moment",
    "--reason why --until 2026-11-23T06:00": "--until: 2026-11-23T06:00 has no time zone: write 2026-11-23T06:00Z for "
    "UTC",
    "--reason why --until 2026-11-22T11:59Z": "--until 2026-11-22 11:59:00 UTC is not after its beginning, 2026-11-22 "
    "12:00:00 UTC",
    "--reason why --from 2026-11-22T10:00Z --for 1h": "its end, 2026-11-22 11:00:00 UTC, is in the past. Give a later "
    "end.",
    "--reason ' ' --for 2h": "--reason is empty",
    "--for 2h": "--reason is missing. Give the reason in a few words.",
    "--reason why --end 1": "--end takes no other option. Remove the other options.",
}


@pytest.mark.parametrize(("line", "named"), REFUSED.items())
def test_what_makes_no_sense_is_refused_with_the_fix(run, history, line, named):
    """And nothing is silenced."""
    result = run("silence", "--group", "orders-*", *shlex.split(line))
    assert result.exit_code == 2
    assert named in result.stderr
    assert history.silences(NOW) == []


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["silence"], "no group is given. Add --group NAME, or --group 'orders-*'."),
        (["silence", "orders-app"], "Groups are named with --group."),
        (["ack"], "Missing option '--group'"),
    ],
)
def test_groups_are_named_by_the_option_of_every_verb(run, history, arguments, told):
    """Without it, or with a bare name in its place, nothing happens."""
    opened(history, "orders-app")
    result = run(*arguments, "--for", "2h", *WHY)
    assert (result.exit_code, history.silences(NOW)) == (2, [])
    assert told in result.stderr


@pytest.mark.parametrize(
    ("arguments", "warning"),
    [
        (["order-app"], "no group 'order-app' in the newest snapshots. Did you mean orders-app"),
        (["*", "--cluster", "dem"], "dem matches no cluster of the newest snapshots. Did"),
        (["*", "--cluster", "eu"], "eu matches no cluster of the newest snapshots. There is demo."),
    ],
)
def test_a_silence_of_nothing_is_kept_and_said(run, history, arguments, warning):
    """The groups may come; the nearest names are offered."""
    result = run("silence", "--group", *arguments, "--for", "2h", *WHY)
    assert result.exit_code == 0
    assert warning in result.stderr
    assert len(history.silences(NOW)) == 1


def test_before_the_first_snapshot_nobody_knows_what_is_covered(run, history):
    """That is no mistake of who types."""
    history.tables.metrics.clear()
    result = run("silence", "--group", "*", "--for", "2h", *WHY)
    assert "no snapshot has been measured yet" in result.stderr


def test_a_group_may_be_called_like_a_pattern(run, history):
    """The name of a group means that group, whatever signs are in it."""
    assert "(1 group now)" in run("silence", "--group", "pay[1]", "--for", "2h", *WHY).stdout
    (kept,) = history.silences(NOW)
    assert kept.covers("demo", "pay[1]")
    assert not kept.covers("demo", "pay1")


def test_an_ack_names_the_incidents_that_it_means(run, history):
    """Without an end it lasts as long as they do; with one, until then."""
    opened(history, "orders-app", "pay[1]", "orders-api")
    result = run("ack", "--group", "orders-*", "--reason", "restarting", "--by", "bo")
    assert result.stdout.splitlines() == [
        "ack 1: 2 incidents until they are resolved: orders-api (demo, catching up),"
        " orders-app (demo, catching up)",
        "to undo: evenkeel silence --end 1",
    ]
    assert (
        "until 2026-11-22 13:00:00 UTC"
        in run("ack", "--group", "pay[1]", "--for", "1h", *WHY).stdout
    )
    first, second = history.silences(NOW)
    assert (first.kind, first.ends_at, first.who) == ("ack", None, "bo")
    assert second.covers("demo", "pay[1]")


def test_an_ack_from_a_clock_that_is_behind_means_what_is_open(run, history):
    """It begins when the newest of its incidents was opened, so that it covers all of them."""
    opened(history, "orders-app", "orders-api", opened_at=NOW + timedelta(seconds=40))
    assert run("ack", "--group", "orders-*", *WHY).exit_code == 0
    (silenced,) = history.silences(NOW + HOUR)
    assert silenced.starts_at == NOW + timedelta(seconds=40)


def test_what_is_not_open_cannot_be_acknowledged(run, history):
    """A suspicion is nothing yet; the nearest open group is offered, or where to look."""
    opened(history, "orders-app")
    near = run("ack", "--group", "orders-ap", *WHY)
    told = "no group 'orders-ap' with an open incident. Did you mean orders-app?"
    assert near.exit_code == 1
    assert told in near.stderr
    assert "query open_incidents" in run("ack", "--group", "xyz", *WHY).stderr
    assert "with an open incident" in run("ack", "--group", "*", "--cluster", "eu", *WHY).stderr
    assert history.silences(NOW) == []


def test_a_suspicion_is_not_open(run, history):
    """Nobody has been told of it."""
    opened(history, "orders-app", state=IncidentState.SUSPECTED)
    assert run("ack", "--group", "*", *WHY).exit_code == 1


def test_a_silence_ends_by_its_number(run, history):
    """Once; a number that nothing has says where they are listed."""
    run("silence", "--group", "orders-*", "--for", "2h", *WHY)
    assert run("silence", "--end", 1).stdout == "silence 1 for orders-* has ended\n"
    assert [each.ended_at for each in history.silences(NOW)] == [NOW]
    again = run("silence", "--end", 1)
    assert again.exit_code == 1
    assert "there is no active or future silence 1. See `evenkeel query silences`." in again.stderr


def test_a_maintenance_window_ends_in_the_configuration(run, history):
    """Ended here it would come back with the next look at the configuration."""
    number = history.add_silence(
        silence(kind=SilenceKind.MAINTENANCE, ends_at=NOW + timedelta(days=1))
    )
    result = run("silence", "--end", number)
    assert result.exit_code == 2
    assert "evenkeel.toml" in result.stderr
