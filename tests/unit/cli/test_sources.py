"""Where a command's groups come from."""

from __future__ import annotations

import pytest

from evenkeel.engine import wiring
from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.cli import sources
from evenkeel.engine.cli.command_end import NothingFound
from evenkeel.engine.config import ClusterSettings, Rule, Settings
from evenkeel.engine.model.errors import InputError, LakeError
from evenkeel.engine.pipeline.snapshot import take_snapshot
from tests.helpers.memory import MemoryCluster
from tests.helpers.snapshots import group, make_snapshot, member, topic
from tests.unit.cli.conftest import objects


def test_a_lake_of_one_cluster_needs_no_name(lake):
    """Its newest snapshot is the one asked about."""
    source = sources.open_source(None, None, str(lake))
    assert source.cluster == "prod"
    assert source.newest == source.lake.snapshots("prod")[0]


def test_a_lake_of_several_clusters_asks_which(kept):
    """The choice is the user's; the names are listed."""
    lake = str(kept(make_snapshot(cluster="a"), make_snapshot(cluster="b")))
    with pytest.raises(InputError, match="several clusters: a, b"):
        sources.open_source(None, None, lake)
    assert sources.open_source(None, "b", lake).cluster == "b"
    with pytest.raises(InputError, match="it has a, b"):
        sources.open_source(None, "c", lake)


def test_an_empty_lake_is_nothing_found():
    """Exit code 1, and how to fill it."""
    with pytest.raises(NothingFound, match="holds no snapshot"):
        sources.from_lake(Settings(), wiring.scratch(), None, "it")


def test_a_folder_that_is_no_lake_is_refused(tmp_path):
    """A typo in a path is not an empty cluster."""
    with pytest.raises(InputError, match="no lake"):
        sources.open_source(None, None, str(tmp_path))


def test_the_only_configured_cluster_needs_no_name():
    """With several, or none, the name must be said."""
    one = Settings(clusters={"prod": ClusterSettings(bootstrap="h:1")})
    assert sources.live(one, None, None) == (one, "prod")
    with pytest.raises(InputError, match="configured: none"):
        sources.live(Settings(), None, None)


def test_an_address_beside_a_name_keeps_the_rest_of_the_configuration():
    """Who reaches a configured cluster by another address still needs its filters and security."""
    prod = ClusterSettings(bootstrap="h:1", properties={"security.protocol": "SSL"})
    settings, name = sources.live(Settings(clusters={"prod": prod}), "other:2", "prod")
    assert name == "prod"
    assert settings.clusters["prod"].bootstrap == "other:2"
    assert settings.clusters["prod"].properties == prod.properties


@pytest.mark.parametrize("address", ["host", "host:", ":9092", "host:0", "host:99999", "a:1,b", ""])
def test_an_address_without_a_port_is_refused_in_words(address):
    """The wrong part is named, before anything is connected."""
    with pytest.raises(InputError, match=r"--bootstrap: "):
        sources.live(Settings(), address, None)


def test_the_name_of_an_unconfigured_cluster_is_a_slug():
    """Whatever the address, the name can stand in a snapshot id."""
    for address in ("A.b:1", "[::1]:9092", "x" * 90 + ".example.com:9092", "-:1"):
        settings, name = sources.live(Settings(), address, None)
        Settings(clusters={name: settings.clusters[name]})


def test_snapshots_are_apart_by_more_than_their_ids_can_tell(run, kafka):
    """Ids name seconds; two in one second would have no order."""
    run("advise", "--bootstrap", "h:1", "--samples", "2", "--every", "0")
    assert kafka["slept"] == [pytest.approx(sources.SHORTEST, abs=0.5)]


def test_the_cluster_is_closed_when_reading_fails(monkeypatch):
    """A failure leaves no connection behind."""

    class Broken:
        closed = False

        def take_snapshot(self, snapshot_id):
            raise LakeError("full")

        def close(self):
            self.closed = True

    broken = Broken()
    monkeypatch.setattr(wiring, "cluster", lambda settings, name: broken)
    with pytest.raises(LakeError):
        sources.open_source("h:1", None, None)
    assert broken.closed


def test_a_recording_knows_what_its_members_list(tmp_path):
    """Lists configured when a snapshot was taken come with it; the reader's own configuration beats them."""
    rule = Rule(groups="orders-*", assignors={"web-*": ("sticky",), "*": ("range",)})
    taken = Settings(rules=(rule, Rule(clusters="other", assignors=("roundrobin",))))
    held = FileLake(tmp_path / "lake")
    snapshot = make_snapshot(cluster="prod")
    take_snapshot(MemoryCluster(snapshot), held, None, taken, "prod")
    reader = Settings(rules=(Rule(groups="orders-b", assignors=("roundrobin",)),))

    settings = sources.from_lake(reader, held, None, "lake").settings

    assert settings.rule("prod", "orders-a").assignors == rule.assignors
    assert settings.rule("prod", "orders-b").assignors == ("roundrobin",)
    assert settings.rule("prod", "payments").assignors is None


RACKED = """
[[rules]]
groups = "{groups}"
racks = {{ "{pattern}" = "rack-z" }}
"""


@pytest.mark.parametrize(
    ("groups", "pattern", "racks"),
    [
        ("fine", "*", {"rack-z"}),
        ("fine", "nobody-*", {None}),
        ("uneven", "*", {"rack-a", "rack-b"}),
    ],
)
def test_racks_of_a_rule_hold_for_stored_snapshots(
    run, recording, tmp_path, groups, pattern, racks
):
    """Who told no rack of its own gets that of the rule, as on a live cluster; who told one keeps it."""
    (tmp_path / "evenkeel.toml").write_text(RACKED.format(groups=groups, pattern=pattern))
    rows = objects(run("lag", "--from", recording, "--group", groups, "--json"))
    assert {row["rack"] for row in rows} == racks


def test_a_recording_of_stored_snapshots_keeps_what_was_read(run, lake, tmp_path):
    """Today's rules are applied when it is read, not written into it."""
    (tmp_path / "evenkeel.toml").write_text(RACKED.format(groups="*", pattern="*"))
    assert run("snapshot", "record", "--lake", lake, "--out", "copy").exit_code == 0
    (tmp_path / "evenkeel.toml").write_text("")
    rows = objects(run("lag", "--from", "copy", "--group", "fine", "--json"))
    assert {row["rack"] for row in rows} == {None}


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("lag --from lake", "Cluster prod: 7 groups"),
        ("diff --group uneven", "uneven (prod): "),
        ("backtest --from lake --group uneven", "uneven"),
        ("report --snapshots 2", "7 groups over 2 snapshots"),
    ],
)
def test_the_configured_lake_is_called_lake_and_the_default_of_what_asks_no_cluster(
    run, lake, monkeypatch, line, told
):
    """The one that the scheduled runs fill, where nothing in the folder is called so."""
    monkeypatch.setenv("EVENKEEL_LAKE", str(lake))
    result = run(*line.split())
    assert result.exit_code == 0, result.output
    assert told in result.output


@pytest.mark.parametrize(
    ("line", "looks"),
    [
        ("lag", 1),
        ("plan --group uneven --strategy range", 1),
        ("runbook --group uneven --strategy sticky", 1),
        ("whatif --group uneven --members +1", 3),
    ],
)
def test_a_live_cluster_is_looked_at_as_often_as_the_answer_needs(run, kafka, line, looks):
    """What arrives takes two snapshots to be known; the connection is let go of."""
    result = run(*line.split(), "--bootstrap", "h:1")
    assert result.exit_code == 0, result.output
    assert len(kafka["slept"]) == looks - 1
    assert kafka["cluster"].closed


@pytest.mark.parametrize("verb", ["lag", "advise"])
def test_names_of_others_are_safe_to_print(run, recording, verb):
    """A group may be called anything: an escape sequence is printed as text, and JSON escapes it."""
    given = [verb, "--group", "bad\x1b[31m[red]name", "--from", recording]
    shown, told = run(*given), run(*given, "--json")
    assert (shown.exit_code, told.exit_code) == (0, 0)
    assert "\x1b" not in shown.output + told.output
    assert r"bad\x1b[31m[red]name" in shown.stdout


def test_a_client_id_is_safe_to_print(run, kept):
    """It may hold anything, too."""
    reader = member("bad\x1b[31mid", ["t"], {"t": [0]})
    lake = kept(make_snapshot(topics=[topic("t", 1)], groups=[group("odd", members=[reader])]))
    text = run("elect", "--from", lake, "--assignors", "range").stdout
    assert "\x1b" not in text
    assert r"bad\x1b[31mid" in text
