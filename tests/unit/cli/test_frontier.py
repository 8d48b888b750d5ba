"""`evenkeel advise --frontier`: cross-rack traffic against moves, of a recorded group."""

from __future__ import annotations

import pytest

from evenkeel.engine.adapters.lake import FileLake
from tests.helpers.snapshots import group, make_snapshot, member, store, topic
from tests.unit.cli.conftest import objects


@pytest.fixture
def asked(run):
    """Ask about the groups of a name or pattern."""

    def ask(name, stored, *options):
        return run("advise", "--group", name, "--from", stored, "--frontier", *options)

    return ask


def test_it_stands_below_the_scoreboard_and_starts_with_what_is(asked, run, recording):
    """The live line, then each strategy's corners, then what is worth knowing."""
    result = asked("uneven", recording)
    board = run("advise", "--group", "uneven", "--from", recording).stdout
    lines = result.stdout.removeprefix(board).splitlines()

    assert result.exit_code == 0, result.output
    assert lines[:2] == ["", "Cross-rack traffic against moves for uneven"]
    assert lines[3].split()[:3] == ["live", "4", "67%"]
    strategies = [line.split()[0] for line in lines[4:] if line.startswith(("min", "bal"))]
    assert set(strategies) == {"min_traffic", "balance_subtopology"}
    assert lines[-1] == "By default a crossing partition is worth 10 moves in Kafka Streams."


def test_json_has_every_corner_with_its_weights(asked, recording):
    """Counts are 3 and 3: two partitions must move; the least that can cross are the two of rack-c."""
    [told] = objects(asked("uneven", recording, "--json"))
    rows = told["frontier"]
    least = [row for row in rows if row["strategy"] == "min_traffic"]

    assert (told["group"], told["frontier_reason"]) == ("uneven", None)
    live = [rows[0][key] for key in ("strategy", "cross_rack_partitions", "moves")]
    assert live == ["live", 4, 0]
    assert [row["moves"] for row in least] == sorted(row["moves"] for row in least)
    assert (least[0]["worth_from"], least[-1]["worth_to"]) == (0, None)
    assert [row["worth_from"] for row in least[1:]] == [row["worth_to"] for row in least[:-1]]
    assert least[-1]["cross_rack_partitions"] == 2
    assert all(row["cross_rack_per_second"] > 0 for row in rows)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("fine", "a missing rack switches it off (KIP-925): 2 of 2 members have no rack"),
        ("moving", "rebalancing (PreparingRebalance)"),
    ],
)
def test_a_group_that_has_none_is_told_why(asked, recording, name, why):
    """Without racks there is nothing to weigh; in motion nothing said of owners would hold. The advice is there."""
    result = asked(name, recording)
    [told] = objects(asked(name, recording, "--json"))

    assert result.exit_code == 0, result.output
    assert f"No cross-rack traffic against moves: {why}" in result.stdout
    assert told["frontier"] is None
    assert told["frontier_reason"].startswith(why)


@pytest.mark.slow
def test_several_groups_are_for_machines(asked, recording):
    """An object of each; for people a table of each would hide the advice, and is refused."""
    assert len(objects(asked("*", recording, "--json"))) == 7


@pytest.fixture
def racked(tmp_path):
    """Stores one snapshot of groups of two members, each on a partition across racks."""

    def stored(*names):
        members = [
            member("a", ["t"], {"t": [0]}, rack="rack-b"),
            member("b", ["t"], {"t": [1]}, rack="rack-a"),
        ]
        described = [group(name, members=members) for name in names]
        folder = tmp_path / "lake"
        store(FileLake(folder), make_snapshot(topics=[topic("t", 2)], groups=described))
        return folder

    return stored


def test_a_group_id_is_a_name_not_a_pattern(asked, racked):
    """Brackets and stars in an id mean themselves."""
    result = asked("odd[1]*", racked("odd[1]*", "odd1"))

    assert result.exit_code == 0, result.output
    assert "Cross-rack traffic against moves for odd[1]*" in result.stdout


def test_unknown_rates_are_left_out_of_the_table(asked, racked):
    """One snapshot tells no rates: no such column, and null for machines."""
    folder = racked("g")
    shown = asked("g", folder).stdout
    table = shown[shown.index("Cross-rack traffic against moves") :]
    assert "Offsets/s" not in table
    assert [line.split("  ")[-1] for line in table.splitlines() if line.startswith("min")] == [
        "up to 1 move",
        "1 move or more (so by default)",
    ]
    [told] = objects(asked("g", folder, "--json"))
    rows = told["frontier"]
    assert {row["cross_rack_per_second"] for row in rows} == {None}
    corners = [(r["moves"], r["worth_to"]) for r in rows if r["strategy"] == "min_traffic"]
    assert corners == [(0, 1.0), (2, None)]
