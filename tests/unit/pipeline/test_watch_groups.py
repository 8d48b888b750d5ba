"""From a snapshot to what people are told of its groups: once, for the newest snapshot, however often it is tried."""

from __future__ import annotations

import sys

import pytest

from evenkeel.engine.adapters.recording import Recording
from evenkeel.engine.config import ClusterSettings, Settings
from evenkeel.engine.messages import incident_rows
from evenkeel.engine.messages.length import plain_text
from evenkeel.engine.model.cluster_snapshot import ClusterSnapshot
from evenkeel.engine.model.errors import HistoryError, LakeError, NotifierError
from evenkeel.engine.model.message import AlertMessage, MessageKind, Severity
from evenkeel.engine.pipeline import watch, watch_groups
from evenkeel.engine.records import IncidentRow
from tests.helpers.incidents import posting
from tests.helpers.memory import MemoryHistory, MemoryNotifier
from tests.helpers.silenced import ack, silence
from tests.helpers.snapshots import EVERY, FIRST, group, make_snapshot, store, topic
from tests.helpers.streams_groups import Sub, Thread, live_snapshot

SETTINGS = Settings(clusters={"test": ClusterSettings(bootstrap="b:9092")})
LINK = "https://airflow.example/dags/snapshot_offsets/runs/r/tasks/watch_groups"


def _taken(number: int, end: int, members: int, committed: int) -> ClusterSnapshot:
    described = group("orders-app", members=members, committed={"orders": [committed]})
    return make_snapshot(number=number, topics=[topic("orders", 1, end=end)], groups=[described])


class Watch:
    """A cluster with one group, which reads 1,000 records in five minutes as long as it has members."""

    def __init__(self) -> None:
        self.lake, self.history = Recording(), MemoryHistory()
        self.slack = MemoryNotifier()
        self.taken: list[str] = []
        self.committed = 0

    def take(self, *, members: int) -> str:
        """The next snapshot."""
        number = len(self.taken)
        end = 1000 * (number + 1)
        self.committed = end if members else self.committed
        self.taken += store(self.lake, _taken(number, end, members, self.committed))
        return self.taken[-1]

    def watch(self, snapshot_id: str) -> None:
        """Run the step on a snapshot."""
        watch_groups(self.lake, self.history, self.slack, SETTINGS, snapshot_id, link=LINK)

    def look(self, *, members: int) -> list[MessageKind]:
        """Take a snapshot and run the step on it; what was told of it."""
        before = len(self.slack.sent)
        self.watch(self.take(members=members))
        return [message.kind for _, _, message in self.slack.sent[before:]]

    def incident(self) -> IncidentRow:
        """The one of the group, as who asks the history sees it."""
        (found,) = (one for one in self.history.tables.incidents if one.group_id)
        return found


@pytest.fixture
def cluster() -> Watch:
    """It has been watched while it was well."""
    found = Watch()
    assert [found.look(members=2) for _ in range(3)] == [[], [], []]
    return found


def test_a_group_without_members_is_told_with_the_second_snapshot(cluster: Watch) -> None:
    """With a link to the run; and it is an incident that people see who ask the history."""
    assert cluster.look(members=0) == []
    assert cluster.look(members=0) == [MessageKind.INCIDENT_OPENED]
    ((_, _, message),) = cluster.slack.sent
    assert "orders-app" in message.title
    assert message.link == LINK
    incident = cluster.incident()
    assert (incident.group_id, incident.kind, incident.closed_at) == (
        "orders-app",
        "no members",
        None,
    )
    assert incident.summary is not None
    assert incident.summary.startswith("no active members")


def test_a_retry_tells_only_what_waits(cluster: Watch) -> None:
    """Slack refuses, the task is tried again: the message comes once, and nothing is judged twice."""
    cluster.look(members=0)
    newest = cluster.take(members=0)
    cluster.slack.refusing["#kafka"] = NotifierError("Slack did not answer.")
    with pytest.raises(NotifierError):
        cluster.watch(newest)
    cluster.slack.refusing.clear()
    cluster.watch(newest)
    cluster.watch(newest)
    assert [message.kind for _, _, message in cluster.slack.sent] == [MessageKind.INCIDENT_OPENED]


def test_a_dead_channel_of_another_cluster_is_no_failure_of_this_one(
    cluster: Watch, caplog: pytest.LogCaptureFixture
) -> None:
    """So its heartbeat goes on; what waits behind a dead channel of its own ends that."""
    cluster.history.enqueue_alert(posting(), cluster="other")
    cluster.slack.refusing["#kafka"] = NotifierError("Slack did not answer.")
    assert cluster.look(members=2) == []
    assert "1 of 1 alerts could not be delivered" in caplog.text
    cluster.history.enqueue_alert(posting("worse 1 thread"), cluster="test")
    with pytest.raises(NotifierError):
        cluster.look(members=2)


def test_nothing_is_said_of_an_older_snapshot(cluster: Watch) -> None:
    """A task that is cleared later changes nothing, nor does one that comes after the next snapshot."""
    first, second = (cluster.take(members=0) for _ in range(2))
    before = cluster.history.incident_watch("test")
    for snapshot_id in (first, *cluster.taken[:-1]):
        cluster.watch(snapshot_id)
    assert cluster.history.incident_watch("test") == before
    cluster.watch(second)
    assert cluster.history.incident_watch("test").snapshot_id == second


def test_two_watchers_at_once_open_one_incident(
    cluster: Watch, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """What another stored while this one judged is read, and all is worked out from that once more."""
    early = cluster.take(members=0)
    read, stale = cluster.history.incident_watch, [cluster.history.incident_watch("test")]
    cluster.watch(early)
    late = cluster.take(members=0)
    monkeypatch.setattr(
        cluster.history,
        "incident_watch",
        lambda name, *of: stale.pop() if stale else read(name, *of),
    )
    cluster.watch(late)
    assert [message.kind for _, _, message in cluster.slack.sent] == [MessageKind.INCIDENT_OPENED]
    (course,) = read("test").courses
    assert course.began_snapshot_id == early
    assert f"{late} is discarded" in caplog.text


def test_a_snapshot_from_the_future_silences_nobody() -> None:
    """A clock was ahead once, and its snapshot was watched: what is wrong by the right one is told all the same."""
    now = FIRST + 3 * EVERY
    one = Watch()
    one.history = MemoryHistory(clock=lambda: now)
    for _ in range(3):
        one.look(members=2)
    (taken,) = store(one.lake, _taken(200, 3000, 2, 3000))
    watch_groups(one.lake, one.history, one.slack, SETTINGS, taken, now=now)
    assert one.history.incident_watch("test").snapshot_id == taken
    for _ in range(2):
        taken = one.take(members=0)
        watch_groups(one.lake, one.history, one.slack, SETTINGS, taken, now=now)
    assert [message.kind for _, _, message in one.slack.sent] == [MessageKind.INCIDENT_OPENED]


def test_a_clock_that_fell_behind_is_told() -> None:
    """What was evaluated by the right clock blocks what is taken by one that is behind, so the run fails."""
    late, right = FIRST + EVERY, FIRST + 37 * EVERY
    one = Watch()
    one.history = MemoryHistory(clock=lambda: right)
    (newest,) = store(one.lake, _taken(36, 3000, 2, 3000))
    watch_groups(one.lake, one.history, one.slack, SETTINGS, newest, now=right)

    with pytest.raises(
        HistoryError, match=r"clock is behind: .* of 'test' is 2 h 55 min ahead of it"
    ):
        watch_groups(one.lake, one.history, one.slack, SETTINGS, one.take(members=2), now=late)
    assert one.history.incident_watch("test").snapshot_id == newest


def test_a_damaged_lake_hides_what_changed_in_one_line(
    cluster: Watch, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The incident is told without what changed since the group was well, and the log has no traceback."""

    def damaged(*of: object) -> None:
        raise LakeError("manifest m.json is damaged.")

    monkeypatch.setattr(sys.modules[watch_groups.__module__], "changed_since", damaged)
    told = [cluster.look(members=members) for members in (2, 2, 0, 0)]
    assert told[-1] == [MessageKind.INCIDENT_OPENED]
    (line,) = [each for each in caplog.records if "changes of group" in each.getMessage()]
    assert line.getMessage().endswith("are unknown: manifest m.json is damaged.")
    assert line.exc_info is None


def silenced(cluster: Watch, *, looks: int) -> None:
    """Nobody is told of the group for so many snapshots more."""
    end = FIRST + (len(cluster.taken) + looks) * EVERY
    cluster.history.add_silence(silence(starts_at=FIRST, ends_at=end))


def test_what_outlasts_a_silence_is_told_when_that_ends(cluster: Watch) -> None:
    """Not before, and once."""
    silenced(cluster, looks=4)
    told = [cluster.look(members=0) for _ in range(6)]
    assert told == [[], [], [], [], [MessageKind.INCIDENT_OPENED], []]


def test_an_ack_stands_in_the_message_until_that_is_over(cluster: Watch) -> None:
    """Its change is delivered; the next look finds nothing to add, and the end takes its place."""
    for _ in range(2):
        cluster.look(members=0)
    now = FIRST + len(cluster.taken) * EVERY
    cluster.history.add_silence(ack(starts_at=now))
    for _ in range(2):
        watch(cluster.history, cluster.slack, SETTINGS, now)
    ((_, _, message),) = _about_the_group(cluster)
    assert message.kind is MessageKind.INCIDENT_OPENED
    assert message.footer[-1] == "Acknowledged by bo: moving."
    assert [cluster.look(members=0) for _ in range(2)] == [[], []]
    for _ in range(4):
        cluster.look(members=2)
    (_, _, over), (_, _, line) = _about_the_group(cluster)
    assert over.kind is line.kind is MessageKind.INCIDENT_CLOSED
    watch(cluster.history, cluster.slack, SETTINGS, now + 9 * EVERY)
    assert cluster.history.silences(now + 9 * EVERY) == []


def _application(number: int, *, apart: bool) -> ClusterSnapshot:
    """Two stores with a copy each on four instances in two racks, which keep up; both copies in one rack, or not."""
    copies = ["0_1", "", "0_0", ""] if apart else ["", "0_0", "", "0_1"]
    active = ["0_0", "", "0_1", ""]
    threads = [
        Thread(client + 1, active[client], copies[client], rack="aabb"[client])
        for client in range(4)
    ]
    return live_snapshot(threads, {"0": Sub(2, ["app-counts-changelog"])}, lag=0, number=number)


def test_stores_that_would_be_lost_with_one_rack_are_a_warning_for_as_long_as_they_would() -> None:
    """Nothing else is wrong with the group: it is told after an hour, and over when the copies stand apart."""
    lake, history, slack = Recording(), MemoryHistory(), MemoryNotifier()
    told = []
    for number in (0, 1, 5, 9, 12, 13, 15, 16, 17):
        (taken,) = store(lake, _application(number, apart=not 1 <= number < 15))
        before = len(slack.sent)
        watch_groups(lake, history, slack, SETTINGS, taken)
        told += [(number, message) for _, _, message in slack.sent[before:]]

    # seen first with snapshot 1, twelve times five minutes later for an hour; some between are left out
    (number, opened), *after = told
    assert (number, opened.kind) == (13, MessageKind.INCIDENT_OPENED)
    assert {message.kind for _, message in after} == {MessageKind.INCIDENT_CLOSED}
    assert opened.severity is Severity.WARNING
    assert "2 of 2 state stores in one rack" in plain_text(opened)
    assert "evenkeel tasks --from lake --cluster test --group app" in plain_text(opened)
    (found,) = history.tables.incidents
    assert (found.kind, found.severity) == ("store in one rack", "warning")
    assert found.closed_at is not None


def _about_the_group(cluster: Watch) -> list[tuple[str, str, AlertMessage]]:
    """Not those of the pipeline, which has no steps here."""
    return [one for one in cluster.slack.sent if "orders-app" in one[2].title]


@pytest.mark.parametrize("broken", ["changed_since", "summary_of"])
def test_what_cannot_be_explained_is_told_all_the_same(
    cluster: Watch, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    """What changed, or the summary for who asks the history, keeps nobody from being woken."""

    def fail(*_: object) -> None:
        raise KeyError("no clause")

    module = incident_rows if broken == "summary_of" else sys.modules[watch_groups.__module__]
    monkeypatch.setattr(module, broken, fail)
    cluster.look(members=0)
    assert cluster.look(members=0) == [MessageKind.INCIDENT_OPENED]
    incident = cluster.incident()
    assert incident.summary


def test_a_group_that_nobody_misses_leaves_one_row_and_no_message() -> None:
    """Its topic is idle, so its end is no incident that somebody has to act on."""
    cluster = Watch()
    for number in range(4):
        there = [group("old-app", members=0, committed={"old": [7]}, state="Empty")]
        taken = make_snapshot(
            number=number, topics=[topic("old", 1, end=7)], groups=there if number < 2 else []
        )
        cluster.watch(store(cluster.lake, taken)[0])

    incident = cluster.incident()
    assert (incident.group_id, incident.kind) == ("old-app", "group deleted")
    assert incident.opened_at == incident.closed_at
    assert incident.summary is not None
    assert cluster.slack.sent == []
    (watched,) = [cluster.history.incident_watch("test")]
    assert watched.courses == ()
