"""`evenkeel snapshot take`: a cluster into a lake folder."""

from __future__ import annotations

from evenkeel.engine.adapters.lake import FileLake
from tests.unit.cli.conftest import objects


def test_it_prints_the_id_and_what_was_read(run, kafka, tmp_path):
    """The id alone on the first line, the sums on the second, what could not be read on standard error."""
    result = run("snapshot", "take", "--bootstrap", "h:9092", "--out", "lake")
    assert result.exit_code == 0
    taken, line = result.stdout.splitlines()
    assert FileLake(tmp_path / "lake").snapshots("h-9092") == [taken]
    assert line == "7 groups, 9 members, 10 partitions, 3 brokers in 1.0 s, partial: 1 not read"
    assert result.stderr == "not read: group locked: not authorized: DESCRIBE\n"


def test_json_has_the_same_for_machines(run, kafka):
    """Id, counts, seconds, problems and requests in one object."""
    [row] = objects(run("snapshot", "take", "--bootstrap", "h:9092", "--out", "lake", "--json"))
    assert row["cluster"] == "h-9092"
    assert (row["groups"], row["partial"], row["seconds"]) == (7, True, 1.0)
    assert row["problems"] == ["group locked: not authorized: DESCRIBE"]
    assert row["requests"] == {"ListGroups": 3}


def test_without_a_folder_it_goes_to_the_configured_lake(run, kafka, tmp_path, monkeypatch):
    """The lake of the settings is the default."""
    monkeypatch.setenv("EVENKEEL_LAKE", str(tmp_path / "configured"))
    assert run("snapshot", "take", "--bootstrap", "h:9092").exit_code == 0
    assert FileLake(tmp_path / "configured").clusters() == ["h-9092"]


def test_a_configured_cluster_keeps_its_name(run, kafka, tmp_path):
    """The id starts with the name of evenkeel.toml."""
    (tmp_path / "evenkeel.toml").write_text('[clusters.prod]\nbootstrap = "h:1"\n')
    assert run("snapshot", "take", "--cluster", "prod").stdout.startswith("prod-")


def test_a_lake_that_cannot_be_written_is_exit_code_4(run, kafka, tmp_path):
    """What and where on one line, no snapshot left behind."""
    result = run("snapshot", "take", "--bootstrap", "h:9092", "--out", tmp_path / "gone" / "lake")
    assert result.exit_code == 4
    assert len(result.stderr.splitlines()) == 1
    assert str(tmp_path / "gone") in result.stderr
