"""`evenkeel lag` on stored snapshots and on a live cluster."""

from __future__ import annotations

import csv
import re
from operator import itemgetter

import pytest

from tests.helpers.snapshots import group, make_snapshot, member, topic
from tests.unit.cli.conftest import objects, words_of


def test_json_has_a_row_per_partition_with_its_owner(run, recording):
    """Group, topic, partition, begin, end, committed, lag and member, and what the number rests on."""
    rows = objects(run("lag", "--from", recording, "--group", "uneven", "--json"))
    assert [(row["topic"], row["partition"]) for row in rows] == [("orders", p) for p in range(6)]
    first = rows[0]
    told = {"group": "uneven", "begin": 0, "end": 19000, "committed": 18500, "lag": 500}
    assert first.items() >= (told | {"member": "app-1"}).items()
    assert first["lag_basis"] == "committed"
    assert (first["client_id"], first["host"], first["rack"]) == ("app-1", "/10.0.0.1", "rack-a")
    assert first["snapshot_id"].startswith("prod-")


def test_rows_are_sorted_by_group_topic_and_partition(run, lake):
    """The order is that of the names, not of the listing."""
    rows = objects(run("lag", "--from", lake, "--json"))
    keys = [(row["group"], row["topic"], row["partition"]) for row in rows]
    assert keys == sorted(keys)
    assert {"empty", "moving", "never"} <= {row["group"] for row in rows}


def test_what_is_unknown_is_null_and_never_zero(run, recording, tmp_path):
    """Without a commit there is no lag to tell, and why, unless a rule says where the group starts."""
    rows = objects(run("lag", "--from", recording, "--group", "never", "--json"))
    told = {itemgetter("committed", "lag", "lag_basis")(row) for row in rows}
    assert told == {(None, None, "no commit")}
    rule = '[[rules]]\ngroups = "never"\nauto_offset_reset = "earliest"\n'
    (tmp_path / "evenkeel.toml").write_text(rule)
    rows = objects(run("lag", "--from", recording, "--group", "never", "--json"))
    assert {row["lag"] for row in rows} == {500}


def test_people_see_unknown_as_a_question_mark_with_a_legend(run, recording):
    """The missing commit is a dash, the lag that follows from it a question mark, both explained."""
    lines = run("lag", "--from", recording, "--group", "empty").stdout.splitlines()
    assert "lag ? (unknown on 1 partition)" in lines[0]
    (cells,) = [line.split() for line in lines if line.startswith("pay-2 ")]
    assert (cells[1], cells[-3:]) == ("?", ["-", "500", "-"])
    assert lines[-1].startswith("(? unknown, - not applicable; ")


def test_groups_furthest_behind_are_on_top_and_healthy_ones_are_counted(run, lake):
    """Nothing that is not known makes a group the worst; each has its partitions by lag; `--all` lists all groups."""
    text = run("lag", "--from", lake).stdout
    heads = re.findall(r"^(\S+): ", text, re.MULTILINE)
    assert heads[-1] == "never"
    assert "fine" not in heads
    assert "healthy group" in text
    lags = re.findall(r"^pay-(\d) +(\S+)", text.partition("\nempty: ")[2], re.MULTILINE)[:4]
    assert lags == [("0", "10"), ("2", "?"), ("1", "0"), ("3", "0")]
    every = run("lag", "--from", lake, "--all").stdout
    assert "\nfine: healthy, lag 0\n" in every
    assert "healthy group" not in every


def test_few_partitions_are_listed_beside_other_groups(run, kept):
    """The rest is counted; of one group, and with `--all`, every one is listed."""
    members = [member("a", ["t"], {"t": range(30)})]
    lag = {"t": 7}
    groups = [group("g", members=members, lag=lag, state="PreparingRebalance")]
    place = kept(make_snapshot(topics=[topic("t", 30)], groups=groups))
    assert (
        "and 20 partitions more, lag 140 (--all lists them)" in run("lag", "--from", place).stdout
    )
    for asked in (["--all"], ["--group", "g"]):
        assert run("lag", "--from", place, *asked).stdout.count("\nt-") == 30


def test_a_time_lag_beyond_what_snapshots_reach_back_is_at_least_so_long(run, kept):
    """By the speed of ten minutes it would be many hours; nobody knows what came before."""
    owner = member("a", ["t"], {"t": [0]})
    behind = group("g", members=[owner], committed={"t": 100})
    place = kept(
        *(
            make_snapshot(
                number=number, topics=[topic("t", end=1000 + 10 * number)], groups=[behind]
            )
            for number in range(2)
        )
    )

    assert re.search(r"^t-0 .* >10m ", run("lag", "--from", place).stdout, re.MULTILINE)


def test_an_unreadable_group_is_a_line_on_standard_error(run, recording):
    """The rest is shown, the group and its cause are said, once."""
    result = run("lag", "--from", recording)
    assert result.exit_code == 0
    assert "locked" not in result.stdout
    assert result.stderr.count("locked") == 1
    assert "group locked could not be read: not authorized: DESCRIBE" in result.stderr


@pytest.fixture
def mixed(kept):
    """A lake of a group with a partition, of five without any, and of one that could not be read."""
    groups = [
        group("orders-app", members=1, lag={"t": 5}),
        group(
            "connect-s3", members=[member("c-1"), member("c-2")], protocol_type="connect", topics=[]
        ),
        group("schema-registry", state="Stable", protocol_type="sr", assignor="v0"),
        group("shared", group_type="share", protocol_type="share", assignor=None),
        group("gone", state="Dead", protocol_type=None),
        group("idle"),
        group("locked", error="not authorized: DESCRIBE"),
    ]
    return kept(make_snapshot(topics=[topic("t", 1)], groups=groups))


def test_groups_without_a_partition_are_shown(run, mixed):
    """Below those that have some; a question about them is answered, one about who could not be read alone is not."""
    lines = run("lag", "--from", mixed).stdout.splitlines()
    at = lines.index("5 groups without partitions")
    assert "  Stable, classic, range, 1 member, 1 partition" in lines[:at]
    assert [line.split() for line in lines[at + 2 : at + 7]] == [
        ["connect-s3", "Stable", "classic", "connect", "2"],
        ["gone", "Dead", "classic", "-", "0"],
        ["idle", "Empty", "classic", "consumer", "0"],
        ["schema-registry", "Stable", "classic", "sr", "0"],
        ["shared", "Empty", "share", "share", "0"],
    ]
    named = run("lag", "--from", mixed, "--group", "connect-*")
    assert (named.exit_code, named.stdout.splitlines()[0]) == (0, "1 group without partitions")
    assert run("lag", "--from", mixed, "--group", "locked").exit_code == 1


def test_json_has_one_object_for_a_group_without_a_partition(run, mixed):
    """With the same keys as a partition's, all that is of a partition null, even the status; and its group's own."""
    rows = objects(run("lag", "--from", mixed, "--json"))
    own, *others = sorted(rows, key=lambda row: row["partition"] is None)
    assert [row["group"] for row in rows] == sorted(row["group"] for row in rows)
    assert all(row.keys() == own.keys() for row in rows)
    of_group = itemgetter("group", "partition", "state", "type", "protocol_type")
    assert of_group(own) == ("orders-app", 0, "Stable", "classic", "consumer")
    told = {row["group"]: {k: v for k, v in row.items() if v is not None} for row in others}
    keys = {"cluster": "test", "snapshot_id": own["snapshot_id"]}
    connect = {"state": "Stable", "type": "classic", "protocol_type": "connect"}
    assert told["connect-s3"] == keys | connect | {"group": "connect-s3"}
    assert told["gone"] == keys | {"group": "gone", "state": "Dead", "type": "classic"}
    assert told.keys() == {"connect-s3", "gone", "idle", "schema-registry", "shared"}


def test_members_of_one_client_id_are_told_apart(run, kept):
    """By host, and where that is shared too, by number."""
    ids = [
        ("a-1", "a", "/h1"),
        ("b-1f2e3d4c", "b", "/h1"),
        ("b-5b6a7980", "b", "/h1"),
        ("c-1", "c", "/1"),
        ("c-2", "c", "/2"),
    ]
    members = [
        member(name, ["t"], {"t": [p]}, client_id=client, client_host=host)
        for p, (name, client, host) in enumerate(ids)
    ]
    lake = kept(make_snapshot(topics=[topic("t", 5)], groups=[group("g", members=members)]))
    lines = run("lag", "--from", lake).stdout.splitlines()
    shown = [re.split(" {2,}", line)[-1] for line in sorted(lines) if line.startswith("t-")]
    assert shown == ["a", "b at h1 #1", "b at h1 #2", "c at 1", "c at 2"]


def test_a_group_that_the_filter_leaves_out_is_told_as_that(run, kafka, recording):
    """The pattern that denies it and how to admit it; what a recording's filter was is not known, so not told."""
    live = run("lag", "--bootstrap", "h:1", "--group", "console-consumer-1")
    assert live.exit_code == 1
    assert "leaves out 'console-consumer-*'" in live.stderr
    assert "groups = {deny = []}` under [clusters.h-1] in evenkeel.toml" in live.stderr
    for other in (
        run("lag", "--bootstrap", "h:1", "--group", "nobody"),
        run("lag", "--from", recording, "--group", "console-consumer-1"),
    ):
        assert other.exit_code == 1
        assert "leaves out" not in other.stderr


def test_a_live_cluster_is_read_and_let_go_of(run, kafka):
    """One snapshot over the wire, kept nowhere, the connection closed."""
    rows = objects(run("lag", "--bootstrap", "Kafka-1.example.com:9092", "--json"))
    assert {row["cluster"] for row in rows} == {"kafka-1-example-com-9092"}
    assert kafka["settings"].clusters[kafka["name"]].bootstrap == "Kafka-1.example.com:9092"
    assert kafka["cluster"].closed


def test_csv_has_the_columns_of_json(run, recording):
    """A line per partition, null as nothing."""
    asked = ["lag", "--from", recording, "--group", "empty"]
    rows, printed = objects(run(*asked, "--json")), run(*asked, "--csv").stdout
    read = list(csv.DictReader(printed.splitlines()))
    assert [list(row) for row in read] == [list(row) for row in rows]
    assert [row["committed"] for row in read] == ["490", "500", "", "500"]
    lags = [None if row["lag"] is None else str(row["lag"]) for row in rows]
    assert [row["lag"] or None for row in read] == lags


def test_one_snapshot_of_a_live_cluster_says_what_a_second_gives(run, kafka):
    """Nobody has to guess why a group is unknown: with more snapshots it is diagnosed, and nothing is said."""
    live = ("lag", "--bootstrap", "h:1")
    hint = r"One snapshot doesn't show the diagnosis of \d+ groups?: `evenkeel lag --samples 3` takes more\."

    assert re.search(hint, words_of(run(*live).stdout))
    assert not re.search(hint, words_of(run(*live, "--samples", "2", "--every", "0").stdout))
    alone = words_of(run(*live, "--group", "uneven").stdout)
    assert "Take a second snapshot, of a live cluster by --samples 3." in alone
