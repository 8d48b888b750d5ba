"""What the port `Silences` promises, of the fake and of Postgres."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from evenkeel.engine.ports import History
from evenkeel.engine.records import SilenceKind
from tests.helpers.history_rows import manifest, metrics
from tests.helpers.silenced import HOUR, NOW, ack, silence

pytest_plugins = ("tests.helpers.postgres_fixtures",)


def test_a_silence_comes_back_as_it_was_given(history: History) -> None:
    """With a number, and without anything that was told of it."""
    first, second = history.add_silence(silence()), history.add_silence(ack(cluster="eu-?"))
    assert first < second
    stored = history.silences(NOW)
    assert [replace(each, created_at=None) for each in stored] == [
        replace(silence(), silence_id=first),
        replace(ack(cluster="eu-?"), silence_id=second),
    ]
    assert all(each.created_at for each in stored)


def test_a_silence_matters_until_its_end_was_told(history: History) -> None:
    """One that is over is asked about until then; one that holds and was told of, until it is over."""
    number = history.add_silence(silence())
    history.note_silence(number, ["#kafka"], None)
    assert [each.channels for each in history.silences(NOW + 9 * HOUR)] == [("#kafka",)]
    history.note_silence(number, ["#kafka"], NOW + HOUR)
    assert history.silences(NOW + HOUR) == []
    assert [each.end_notified_at for each in history.silences(NOW)] == [NOW + HOUR]


def test_what_is_over_cannot_be_ended(history: History) -> None:
    """What holds or is to come ends at once and comes back so; a number that nothing has ends nothing."""
    held = history.add_silence(silence())
    planned = history.add_silence(silence(starts_at=NOW + HOUR, ends_at=NOW + 2 * HOUR))
    ended = history.end_silence(held, NOW)
    assert ended is not None
    assert (ended.silence_id, ended.ended_at, ended.holds(NOW)) == (held, NOW, False)
    assert history.end_silence(held, NOW + timedelta(minutes=1)) is None
    assert history.end_silence(held + planned + 1, NOW) is None
    early = history.end_silence(planned, NOW)
    assert early is not None
    assert not early.holds(NOW + HOUR)


def test_a_window_is_noted_once(history: History) -> None:
    """What the configuration says of it counts; one that was ended early is another, and so is a silence."""
    window = silence(kind=SilenceKind.MAINTENANCE)
    history.end_silence(history.add_silence(window), NOW)
    number = history.add_silence(window)
    history.note_silence(number, ["#kafka"], NOW + HOUR)
    assert history.add_silence(replace(window, ends_at=NOW + 3 * HOUR, reason="longer")) == number
    _, stored = history.silences(NOW)
    assert (stored.ends_at, stored.reason, stored.end_notified_at) == (
        NOW + 3 * HOUR,
        "longer",
        None,
    )
    assert stored.channels == ("#kafka",)
    assert history.add_silence(silence()) != number
    assert history.add_silence(silence()) != number
    assert len(history.silences(NOW)) == 4


def test_the_groups_that_a_pattern_can_mean_are_those_measured_last(history: History) -> None:
    """Of each cluster by itself, and of no snapshot that has no metrics yet."""
    assert history.newest_groups() == {}
    for number in (0, 1, 2):
        taken = manifest(number)
        history.store_snapshot(taken)
        if number < 2:
            names = ("gone", "orders-app") if number == 0 else ("orders-app", "pay")
            history.store_metrics(
                taken.snapshot_id, metrics(taken.snapshot_id, groups={name: [0] for name in names})
            )
    assert history.newest_groups() == {"demo": ["orders-app", "pay"]}


def test_what_was_over_long_ago_is_forgotten(history: History) -> None:
    """With everything else of that time; an ack without end stays."""
    history.add_silence(silence())
    history.add_silence(ack())
    history.expire(NOW + HOUR)
    assert len(history.silences(NOW)) == 2
    history.expire(NOW + 2 * HOUR)
    assert [each.kind for each in history.silences(NOW)] == ["ack"]
