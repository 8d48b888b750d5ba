"""`evenkeel frontier`: cross-rack traffic against moves, of a recorded group."""

from __future__ import annotations

from evenkeel.engine.adapters.lake import FileLake
from tests.helpers.snapshots import group, make_snapshot, member, store, topic
from tests.unit.cli.conftest import objects


def test_the_table_starts_with_what_is(run, recording):
    """The live line, then each strategy's corners, then what is worth knowing."""
    result = run("frontier", "uneven", "--from", recording)
    lines = result.stdout.splitlines()

    assert result.exit_code == 0, result.output
    assert lines[0] == "Cross-rack traffic against moves for uneven"
    assert lines[2].split()[:3] == ["live", "4", "67%"]
    strategies = [line.split()[0] for line in lines[3:] if line.startswith(("min", "bal"))]
    assert set(strategies) == {"min_traffic", "balance_subtopology"}
    assert lines[-1] == "By default a crossing partition is worth 10 moves in Kafka Streams."


def test_json_has_every_corner_with_its_weights(run, recording):
    """Counts are 3 and 3: two partitions must move; the least that can cross are the two of rack-c."""
    rows = objects(run("frontier", "uneven", "--from", recording, "--json"))
    least = [row for row in rows if row["strategy"] == "min_traffic"]

    assert (rows[0]["strategy"], rows[0]["cross_rack_partitions"], rows[0]["moves"]) == (
        "live",
        4,
        0,
    )
    assert [row["moves"] for row in least] == sorted(row["moves"] for row in least)
    assert (least[0]["worth_from"], least[-1]["worth_to"]) == (0, None)
    assert [row["worth_from"] for row in least[1:]] == [row["worth_to"] for row in least[:-1]]
    assert least[-1]["cross_rack_partitions"] == 2
    assert all(row["cross_rack_per_second"] > 0 for row in rows)


def test_a_picture_is_written_beside_the_table(run, recording, tmp_path):
    """Without a name it is the group's; standard error says where."""
    result = run("frontier", "uneven", "--from", recording)

    assert (tmp_path / "frontier-uneven.png").read_bytes()[:4] == b"\x89PNG"
    assert "picture: frontier-uneven.png" in result.stderr


def test_the_picture_goes_where_it_should(run, recording, tmp_path):
    """With --json there is one only when asked for; the suffix says of which kind."""
    objects(run("frontier", "uneven", "--from", recording, "--json"))
    assert list(tmp_path.iterdir()) == []

    run("frontier", "uneven", "--from", recording, "--json", "--picture", "some.svg")
    drawn = (tmp_path / "some.svg").read_text()
    assert "<svg" in drawn


def test_an_unknown_kind_of_picture_is_refused(run, recording):
    """The kinds there are are named, before anything is read."""
    result = run("frontier", "uneven", "--from", recording, "--picture", "some.txt")

    assert (result.exit_code, result.stdout) == (2, "")
    assert "some.txt is no picture" in result.stderr
    assert ".png" in result.stderr


def test_a_picture_that_cannot_be_written_is_an_error(run, recording):
    """A folder that is not there."""
    result = run("frontier", "uneven", "--from", recording, "--picture", "gone/some.png")

    assert result.exit_code == 2
    assert "cannot be written" in result.stderr


def test_where_nothing_can_be_written_the_table_is_enough(run, recording, tmp_path):
    """A picture that nobody asked for fails nothing; why there is none is said."""
    (tmp_path / "frontier-uneven.png").mkdir()

    result = run("frontier", "uneven", "--from", recording)

    assert result.exit_code == 0, result.output
    assert "no picture: the picture frontier-uneven.png cannot be written" in result.stderr


def test_a_missing_rack_is_named(run, recording):
    """Members without racks: nothing to weigh, and who they are."""
    result = run("frontier", "fine", "--from", recording)

    assert result.exit_code == 1
    assert "group fine has no frontier: a missing rack switches it off" in result.stderr
    assert "2 of 2 members have no rack" in result.stderr


def test_a_group_in_motion_has_none(run, recording):
    """While it rebalances nothing said of owners would hold."""
    result = run("frontier", "moving", "--from", recording)

    assert result.exit_code == 1
    assert "rebalancing" in result.stderr


def test_no_such_group(run, recording):
    """A name that is not there, with how many are."""
    result = run("frontier", "nobody", "--from", recording)

    assert result.exit_code == 1
    assert "matches 'nobody' (7 groups" in result.stderr


def test_a_group_id_is_a_name_not_a_pattern(run, tmp_path):
    """Brackets and stars in an id mean themselves, also in the picture's name."""
    lake = tmp_path / "lake"
    members = [
        member("a", ["t"], {"t": [0]}, rack="rack-a"),
        member("b", ["t"], {"t": [1]}, rack="rack-b"),
    ]
    described = [group(name, members=members) for name in ("odd[1]*", "odd1")]
    store(FileLake(lake), make_snapshot(topics=[topic("t", 2)], groups=described))

    result = run("frontier", "odd[1]*", "--from", lake)

    assert result.exit_code == 0, result.output
    assert "for odd[1]*" in result.stdout
    assert (tmp_path / "frontier-odd_1__.png").exists()


def test_unknown_rates_are_left_out_of_the_table(run, tmp_path):
    """One snapshot tells no rates: no such column, and null for machines."""
    lake = tmp_path / "lake"
    members = [
        member("a", ["t"], {"t": [0]}, rack="rack-b"),
        member("b", ["t"], {"t": [1]}, rack="rack-a"),
    ]
    store(
        FileLake(lake), make_snapshot(topics=[topic("t", 2)], groups=[group("g", members=members)])
    )

    table = run("frontier", "g", "--from", lake).stdout
    assert "Offsets/s" not in table
    assert [line.split("  ")[-1] for line in table.splitlines() if line.startswith("min")] == [
        "up to 1 move",
        "1 move or more (so by default)",
    ]
    rows = objects(run("frontier", "g", "--from", lake, "--json"))
    assert {row["cross_rack_per_second"] for row in rows} == {None}
    corners = [(r["moves"], r["worth_to"]) for r in rows if r["strategy"] == "min_traffic"]
    assert corners == [(0, 1.0), (2, None)]
