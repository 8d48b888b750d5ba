"""What tasks cannot note: kept aside, told once without history and configuration, made up for."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.sdk import Connection
from airflow.sdk.exceptions import AirflowException

from evenkeel.dags import connections as airflow_connections
from evenkeel.dags import defaults, outages, runtime
from evenkeel.engine.model.errors import ClusterUnreachable, NotifierError
from evenkeel.engine.model.message import AlertMessage
from evenkeel.engine.ports import Delivered
from tests.helpers.memory import MemoryHistory, MemoryNotifier

pytestmark = pytest.mark.airflow

SECRET = "xoxb-not-for-eyes"


class Variables:
    """Airflow's variables, as tasks see them."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}
        self.down = False

    def _asked(self) -> dict[str, str]:
        if self.down:
            raise ImportError("SUPERVISOR_COMMS")
        return self.values

    def get(self, key: str, default: Any) -> Any:
        """One."""
        return self._asked().get(key, default)

    def set(self, key: str, value: str, description: str) -> None:
        """Set one."""
        self._asked()[key] = value

    def delete(self, key: str) -> None:
        """Forget one."""
        self._asked().pop(key, None)


@pytest.fixture
def variables(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Variables:
    """Those of an Airflow with this folder."""
    found = Variables()
    monkeypatch.setenv("AIRFLOW_HOME", str(tmp_path))
    monkeypatch.setattr(outages, "Variable", found)
    return found


@pytest.fixture
def slack(variables: Variables, monkeypatch: pytest.MonkeyPatch) -> MemoryNotifier:
    """Where everything is told."""
    found = MemoryNotifier()
    monkeypatch.setattr(runtime.wiring, "notifier", lambda settings: found)
    return found


@pytest.fixture
def history(
    slack: MemoryNotifier, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[MemoryHistory]:
    """The history that every task gets; the configuration is a file with a channel."""
    file = tmp_path / "evenkeel.toml"
    file.write_text('slack_channel = "#platform"\n[clusters.eu]\nbootstrap = "a:9092"\n')
    monkeypatch.setenv("EVENKEEL_CONFIG", str(file))
    monkeypatch.setattr(airflow_connections, "_connection", lambda name: None)
    found = MemoryHistory()
    monkeypatch.setattr(runtime.wiring, "pipeline_history", lambda settings: found)
    return found


def fail(step: str) -> None:
    """A task fails for the last time, because its cluster does not answer."""
    with (
        pytest.raises(AirflowException) as raised,
        runtime.running(step, cluster="eu"),
    ):
        raise ClusterUnreachable("no broker answered.")
    failed(step, raised.value)


def failed(step: str, error: BaseException) -> None:
    """What Airflow calls then."""
    defaults.TASK["on_failure_callback"](
        {"exception": error, "task": SimpleNamespace(task_id=step)}
    )


def titles(slack: MemoryNotifier) -> list[tuple[str, str, str | None]]:
    """Where and what was told, however long it lasted, and in which thread."""
    return [
        (place, message.title.partition(" for ")[0], thread)
        for (place, _, message), thread in zip(slack.sent, slack.threads, strict=True)
    ]


def test_a_failure_that_the_history_knows_is_told_by_the_watcher(
    history: MemoryHistory, slack: MemoryNotifier
) -> None:
    """Nothing is kept aside, and the callback says nothing."""
    fail("take_snapshot")
    assert (slack.sent, len(history.tables.steps)) == ([], 1)


@pytest.mark.parametrize("airflow_takes_it", [True, False])
def test_a_history_that_is_away_is_told_once_and_once_that_it_is_back(
    history: MemoryHistory, slack: MemoryNotifier, variables: Variables, airflow_takes_it: bool
) -> None:
    """However many tasks fail; then the end in its thread, an incident with both moments, and the steps, noted late."""
    variables.down = not airflow_takes_it
    history.down = True
    for step in ("take_snapshot", "advise", "take_snapshot"):
        fail(step)
    assert titles(slack) == [("#platform", "evenkeel: history database unreachable", None)]
    history.down = False
    runtime.watch()
    runtime.watch()
    assert titles(slack)[1:] == [
        ("#platform", "evenkeel: resolved, history database unreachable", "1")
    ]
    (incident,) = history.tables.incidents
    steps = history.tables.steps
    assert (incident.kind, incident.cluster) == ("history unreachable", "*")
    assert incident.began_at == steps[0].started_at
    assert incident.closed_at is not None
    assert incident.closed_at >= steps[2].finished_at
    assert [run.step for run in steps[:3]] == ["take_snapshot", "advise", "take_snapshot"]
    assert outages._read() == {}


def test_a_history_that_is_away_pages_until_it_is_back(
    history: MemoryHistory, slack: MemoryNotifier, tmp_path: Path
) -> None:
    """Beside the message for people, once each; a pager that does not answer holds nothing up."""
    file = tmp_path / "evenkeel.toml"
    pager = 'format = "pagerduty"'
    table = f"[webhooks.oncall]\n{pager}\n[webhooks.gone]\n{pager}\n[webhooks.pay]\n{pager}\n"
    file.write_text(f'{file.read_text()}{table}groups = ["pay-*"]\n')
    slack.refusing["webhook:gone"] = NotifierError("webhook 'gone' does not answer.")
    history.down = True
    for step in ("take_snapshot", "advise"):
        fail(step)
    history.down = False
    runtime.watch()
    paged = [message for place, _, message in slack.sent if place == "webhook:oncall"]
    assert [message.kind.value for message in paged] == ["incident opened", "incident closed"]
    assert len({message.subject.key for message in paged if message.subject}) == 1
    assert [place for place, _, _ in slack.sent if place.startswith("#")] == ["#platform"] * 2
    assert not any(place in ("webhook:gone", "webhook:pay") for place, _, _ in slack.sent)


def test_a_moment_without_history_is_not_told(
    history: MemoryHistory, slack: MemoryNotifier
) -> None:
    """A task that fails, is tried again and does it tells nobody; its first try is noted late."""
    history.down = True
    with pytest.raises(AirflowException), runtime.running("advise", cluster="eu"):
        raise ClusterUnreachable("no broker answered.")
    history.down = False
    runtime.watch()
    assert (slack.sent, history.tables.incidents) == ([], [])
    assert history.tables.steps[0].step == "advise"


def test_what_is_over_is_not_told_by_what_fails_for_another_reason(
    history: MemoryHistory, slack: MemoryNotifier
) -> None:
    """What could not be noted for a moment is noted then; the history is not called away, for it is there."""
    history.down = True
    with runtime.running("list_clusters", cluster=None):
        pass
    history.down = False
    fail("take_snapshot")
    assert slack.sent == []
    assert [run.step for run in history.tables.steps] == ["take_snapshot", "list_clusters"]
    assert outages._read() == {}


def test_what_is_over_while_it_is_told_is_told_to_be_over(
    history: MemoryHistory, slack: MemoryNotifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The watcher waits for whoever is telling it at that moment: else nobody would ever hear of its end."""
    history.down, send = True, slack.send

    def slowly(message: AlertMessage, **where: Any) -> Delivered:
        history.down = False
        monkeypatch.setattr(slack, "send", send)
        runtime.watch()
        return send(message, **where)

    monkeypatch.setattr(slack, "send", slowly)
    fail("advise")
    runtime.watch()
    assert [title for _, title, _ in titles(slack)] == [
        "evenkeel: resolved, history database unreachable",
        "evenkeel: resolved, history database unreachable",
    ]
    assert slack.threads == [None, "1"]
    assert [incident.kind for incident in history.tables.incidents] == ["history unreachable"]


def test_a_configuration_that_is_refused_is_told_once_and_once_that_it_is_read(
    history: MemoryHistory, slack: MemoryNotifier, tmp_path: Path
) -> None:
    """In the channel that the broken file still names; the error is quoted, with the file and the place."""
    file = tmp_path / "evenkeel.toml"
    good = file.read_text()
    file.write_text(f"{good}\n[[rules\n")
    for task in (runtime.watch, runtime.list_clusters, runtime.watch):
        with pytest.raises(AirflowException) as raised:
            task()
        failed("watch", raised.value)
    assert titles(slack) == [("#platform", "evenkeel: configuration refused", None)]
    assert str(file) in json.dumps(slack.sent[0][2].to_json())
    file.write_text(good)
    runtime.watch()
    assert titles(slack)[1:] == [("#platform", "evenkeel: resolved, configuration refused", "1")]
    assert [run.step for run in history.tables.steps[:3]] == ["watch", "list_clusters", "watch"]


def test_what_could_not_be_told_is_told_by_the_next_that_fails(
    history: MemoryHistory, slack: MemoryNotifier
) -> None:
    """A Slack that is down, too, ends no callback."""
    history.down = True
    slack.refusing["#platform"] = NotifierError("Slack did not answer.")
    fail("advise")
    assert slack.sent == []
    slack.refusing.clear()
    fail("advise")
    assert len(slack.sent) == 1


def test_an_outage_that_was_never_told_ends_silently(
    history: MemoryHistory, slack: MemoryNotifier
) -> None:
    """Nobody waits for its end."""
    history.down = True
    slack.refusing["#platform"] = NotifierError("Slack did not answer.")
    fail("advise")
    slack.refusing.clear()
    history.down = False
    runtime.watch()
    assert slack.sent == []


def test_the_callback_never_raises(
    history: MemoryHistory, slack: MemoryNotifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even where nothing can be written anywhere; the task's own error comes out."""
    monkeypatch.setenv("AIRFLOW_HOME", "/nowhere/at/all")
    history.down = True
    fail("advise")
    assert slack.sent == []


def test_where_nothing_is_kept_nothing_is_written(
    history: MemoryHistory, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A good run of the watcher needs no place of its own."""
    monkeypatch.setenv("AIRFLOW_HOME", "/nowhere/at/all")
    runtime.watch()
    assert "are not recorded" not in caplog.text


@pytest.mark.parametrize("refused", [False, True])
def test_what_is_told_straight_away_leads_to_the_pages(
    refused: bool,
    history: MemoryHistory,
    slack: MemoryNotifier,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """Of what hits every cluster, to where all of them are: for people and pagers, whatever is the matter."""
    monkeypatch.setenv("AIRFLOW__API__BASE_URL", "https://airflow.test/a")
    file = tmp_path / "evenkeel.toml"
    pager = '[webhooks.oncall]\nformat = "pagerduty"\n'
    file.write_text(f"{file.read_text()}{pager}{'[[rules' if refused else ''}\n")
    history.down = True
    with pytest.raises(AirflowException) as raised, runtime.running("advise", cluster="eu"):
        raise ClusterUnreachable("no broker answered.")
    failed("advise", raised.value)
    told = {place: message.report for place, _, message in slack.sent}
    address = "https://airflow.test/a/plugin/evenkeel/a/evenkeel/"
    assert told == dict.fromkeys(
        ["#platform"] if refused else ["#platform", "webhook:oncall"], address
    )


def test_the_pages_are_found_without_the_configuration(
    variables: Variables, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Environment over the line of a file that cannot be read, over Airflow's own; what is no address is none."""
    monkeypatch.setattr(airflow_connections, "_connection", lambda name: None)
    file = tmp_path / "evenkeel.toml"
    monkeypatch.setenv("EVENKEEL_CONFIG", str(file))
    found = lambda: airflow_connections.bare_settings().report_url  # noqa: E731
    assert found() is None
    monkeypatch.setenv("AIRFLOW__API__BASE_URL", "https://airflow.test")
    inside = "https://airflow.test/plugin/evenkeel/evenkeel"
    assert found() == inside
    file.write_text("[[rules\nreport_url = 'https://of.the/file'\n")
    assert found() == "https://of.the/file"
    monkeypatch.setenv("EVENKEEL_REPORT_URL", "https://of.the/environment")
    assert found() == "https://of.the/environment"
    monkeypatch.setenv("EVENKEEL_REPORT_URL", "https://x|<!channel>")
    assert found() == inside


def test_slack_is_found_without_the_configuration(
    variables: Variables, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Environment over connection over the line of the file; without any of them the default channel."""
    monkeypatch.setenv("EVENKEEL_CONFIG", str(tmp_path / "none.toml"))
    monkeypatch.setattr(airflow_connections, "_connection", lambda name: None)
    bare = airflow_connections.bare_settings()
    assert (bare.slack_channel, bare.slack_token) == ("#kafka", None)
    connection = Connection(
        conn_id="evenkeel_slack",
        conn_type="slack",
        password=SECRET,
        extra=json.dumps({"channel": "#of-the-connection", "base_url": "http://slack/"}),
    )
    monkeypatch.setattr(airflow_connections, "_connection", lambda name: connection)
    bare = airflow_connections.bare_settings()
    assert (bare.slack_channel, bare.slack_base_url) == ("#of-the-connection", "http://slack/")
    assert bare.slack_token is not None
    assert bare.slack_token.get_secret_value() == SECRET
    monkeypatch.setenv("EVENKEEL_SLACK_CHANNEL", "#of-the-environment")
    assert airflow_connections.bare_settings().slack_channel == "#of-the-environment"
    assert SECRET not in repr(bare)


def test_a_message_can_be_read_back(history: MemoryHistory, slack: MemoryNotifier) -> None:
    """What is kept of it is the message that was told."""
    history.down = True
    fail("advise")
    ((_, kept),) = outages._read().items()
    assert kept.announced is not None
    assert AlertMessage.from_json(kept.announced.message) == slack.sent[0][2]


@pytest.mark.parametrize("in_a_file", [True, False])
@pytest.mark.parametrize(
    "spoilt",
    [
        lambda kept: "no JSON",
        lambda kept: '["a list"]',
        lambda kept: json.dumps({"of another version": {}, **kept}),
        lambda kept: json.dumps({"configuration refused": "?", **kept}),
        lambda kept: json.dumps({kind: {"since": of["since"]} for kind, of in kept.items()}),
    ],
    ids=["no JSON", "a list", "an unknown kind", "no outage", "fields missing"],
)
def test_what_is_kept_and_cannot_be_read_keeps_nobody_from_watching(
    history: MemoryHistory,
    slack: MemoryNotifier,
    variables: Variables,
    spoilt: Callable[[Any], str],
    in_a_file: bool,
) -> None:
    """The pipelines are watched, and what else fails then is kept as ever."""
    history.down = True
    fail("advise")
    history.down = False
    text = spoilt(json.loads(variables.values.pop(outages.VARIABLE)))
    if in_a_file:
        outages._file().write_text(text, encoding="utf-8")
    else:
        variables.values[outages.VARIABLE] = text
    runtime.watch()
    assert history.tables.steps[-1].step == "watch"
    history.down = True
    fail("advise")
    assert outages._read()


def test_what_cannot_be_made_up_for_keeps_nobody_from_watching(
    history: MemoryHistory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is logged, and tried again with the next look."""

    def spoilt(known: Any) -> None:
        raise KeyError("since")

    monkeypatch.setattr(outages, "make_up", spoilt)
    runtime.watch()
    assert [run.outcome for run in history.tables.steps] == ["ok"]
