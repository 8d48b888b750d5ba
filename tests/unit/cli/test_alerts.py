"""`evenkeel alerts`."""

from __future__ import annotations

from operator import itemgetter

import pytest

from evenkeel.engine import wiring
from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.adapters.recording import write_recording
from evenkeel.engine.config import ClusterSettings, Settings
from evenkeel.engine.pipeline import watch_groups
from tests.helpers.memory import MemoryHistory, MemoryNotifier
from tests.helpers.silenced import silence
from tests.helpers.snapshots import EVERY, FIRST, group, make_snapshot, store, topic
from tests.unit.cli.conftest import objects

pytestmark = pytest.mark.slow

CONFIG = """
lake = "stored"
[clusters.prod]
bootstrap = "b:9092"
[[rules]]
groups = "orders-*"
owner = "team orders"
channel = "#orders"
"""


def snapshot(number, *, members):
    """Of a group that reads 1,000 records between two snapshots while it has members, and one that is always well."""
    end = 1000 * (number + 1)
    return make_snapshot(
        number=number,
        cluster="prod",
        topics=[topic("orders", 1, end=end), topic("pay", 1, end=end)],
        groups=[
            group("orders-app", members=members, committed={"orders": [end if members else 3000]}),
            group("pay", members=1, committed={"pay": [end]}),
        ],
    )


@pytest.fixture
def lake(tmp_path, run):
    """Members are there, gone for three snapshots, and back."""
    (tmp_path / "evenkeel.toml").write_text(CONFIG)
    folder = FileLake(tmp_path / "stored")
    members = [2, 2, 2, 0, 0, 0, 2, 2, 2]
    store(folder, *(snapshot(n, members=m) for n, m in enumerate(members)))
    return folder


def test_a_recording_is_gone_through_snapshot_by_snapshot(run, lake, tmp_path):
    """Each message with its time, where it goes and how, for whom, and its text."""
    file = tmp_path / "some.recording"
    write_recording(file, lake, lake.snapshots("prod", limit=99))
    for place in (file, "lake"):
        result = run("alerts", "--from", place)
        assert result.exit_code == 0, result.output
        heads = [line for line in result.stdout.splitlines() if line[:4] == "2026"]
        key = "prod/orders-app/" + lake.snapshots("prod", limit=99)[-4]
        assert [head.partition("; ")[2] for head in heads] == [
            "#orders; incident opened; a new message; for team orders",
            f"#orders; incident closed; in place of 'incident {key} opened'; for team orders",
            f"#orders; incident closed; in the thread of 'incident {key} opened', shown in the channel; "
            "for team orders",
        ]
        opened = FIRST + 4 * EVERY
        assert heads[0].startswith(f"{opened:%Y-%m-%d %H:%M}")
        assert "    [!!] orders-app (prod): no active members" in result.stdout
        assert result.stderr.endswith("3 messages, none of them sent.\n")


def test_groups_are_selected_and_json_has_all(run, lake):
    """An object per message; of a group that is well there is none."""
    first, *_ = objects(run("alerts", "--from", "lake", "--group", "orders-*", "--json"))
    assert first["at"].startswith(f"{FIRST + 4 * EVERY:%Y-%m-%dT%H:%M}")
    told = ("#orders", "incident opened", "critical", ["orders-app"], ["team orders"], False)
    assert itemgetter(*["channel", "kind", "severity", "groups", "owners", "waits"])(first) == told
    assert first["text"].startswith(f"[!!] {first['title']}")
    none = run("alerts", "--from", "lake", "--group", "pay")
    assert (none.stdout, none.stderr) == ("", "nothing would be sent.\n")


def test_maintenance_of_the_configuration_counts(run, lake, tmp_path):
    """What would have been quiet is quiet, here and in a backtest."""
    assert len(_incidents(run)) == 2
    window = (
        '\n[[maintenance]]\nreason = "r"\nfrom = 2026-01-01T00:00:00Z\nuntil = 2027-01-01T00:00:00Z'
    )
    (tmp_path / "evenkeel.toml").write_text(CONFIG + window)
    assert run("alerts", "--from", "lake").stdout == ""
    assert _incidents(run) == []


def _incidents(run):
    """What a backtest tells of incidents."""
    told = objects(run("backtest", "--from", "lake", "--json"))
    return [each["kind"] for each in told if each.get("kind") in ("opened", "resolved")]


@pytest.fixture
def history(monkeypatch, tmp_path, run):
    """A history that has watched all but the newest snapshot; Slack took nothing."""
    (tmp_path / "evenkeel.toml").write_text(CONFIG)
    folder, known = FileLake(tmp_path / "stored"), MemoryHistory()
    settings = Settings(clusters={"prod": ClusterSettings(bootstrap="b:9092")})
    for number, members in enumerate([2, 2, 2, 0]):
        (taken,) = store(folder, snapshot(number, members=members))
        watch_groups(folder, known, MemoryNotifier(), settings, taken)
    store(folder, snapshot(4, members=0))
    monkeypatch.setattr(wiring, "history", lambda settings: known)
    monkeypatch.setenv("EVENKEEL_DATABASE_URL", "postgresql://db/history")
    return known


def test_without_a_recording_it_says_what_waits_and_what_the_newest_snapshot_adds(
    run, history, tmp_path
):
    """Nothing of it is stored, so that it says the same again; once the snapshot was watched, it waits."""
    for _ in range(2):
        (added,) = objects(run("alerts", "--json"))
        told = ("incident opened", "#orders", False)
        assert itemgetter("kind", "channel", "waits")(added) == told
    assert history.pending_alerts() == []
    lake = FileLake(tmp_path / "stored")
    refusing = MemoryNotifier({"#orders": ValueError("no")})
    with pytest.raises(Exception, match="could not be delivered"):
        watch_groups(lake, history, refusing, wiring.settings(), *lake.snapshots("prod"))
    (waiting,) = objects(run("alerts", "--json", "--cluster", "prod"))
    assert (waiting["key"], waiting["waits"]) == (added["key"], True)
    assert "; waits in the outbox" in run("alerts").stdout


def test_what_is_silenced_now_would_not_be_sent(run, history):
    """As the step would have it."""
    span = {"starts_at": FIRST, "ends_at": FIRST + 99 * EVERY}
    history.add_silence(silence(groups="orders-app", **span))
    assert run("alerts").stdout == ""
