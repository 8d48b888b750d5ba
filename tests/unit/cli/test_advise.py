"""`evenkeel advise`: the table, the scoreboard, the tradeoff, and the same answer as the pipeline."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial

import pytest

from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.cli import local_mode, sources
from evenkeel.engine.cli.local_mode import judge
from evenkeel.engine.config import Settings
from evenkeel.engine.pipeline.advise import advise_groups
from evenkeel.engine.pipeline.measure import compute_metrics, record_metrics
from evenkeel.engine.pipeline.propose import moves_of, propose_candidates
from evenkeel.engine.snapshots import METRICS
from evenkeel.engine.snapshots.groups_with_past import taken_at
from tests.helpers.fluid import SITUATIONS, record, simulate
from tests.helpers.measuring import of_tables
from tests.helpers.snapshots import group, make_snapshot, member, topic
from tests.helpers.streams_groups import Sub, Thread, live_snapshot
from tests.unit.cli.conftest import lacking, objects, words_of


@pytest.fixture
def soon(tmp_path):
    """A policy by which fifteen minutes are enough to be sure."""
    (tmp_path / "evenkeel.toml").write_text("[[rules]]\npolicy = {confirm_evidence = 3}\n")


@pytest.mark.usefixtures("soon")
def test_a_recording_is_enough_for_advice_on_every_group(run, recording):
    """One object per group with its numbers, verdict, reason and every strategy; no service is asked."""
    rows = {row["group"]: row for row in objects(run("advise", "--from", recording, "--json"))}
    assert {name: row["verdict"] for name, row in rows.items()} == {
        "uneven": "switch",
        "fine": "stay",
        "never": "stay",
        "empty": "not evaluated",
        "locked": "not evaluated",
        "moving": "not evaluated",
        "bad\x1b[31m[red]name": "stay",
    }
    assert all(row["reason"] for row in rows.values())
    assert all(row["form"].startswith("local run") for row in rows.values())
    uneven = rows["uneven"]
    assert set(METRICS["group_metrics"]) - {"group_id"} <= set(uneven)
    assert [row["strategy"] for row in uneven["strategies"]][:3] == ["live", "range", "roundrobin"]
    assert uneven["moves"]
    assert "less across racks" in uneven["reason"]
    assert uneven["seen"] == 3


def test_people_get_one_line_per_group_with_the_reason(run, recording):
    """
    State, sizes, lag, skew, racks, status, verdict and why; unknown is a question mark.

    And that it is a local run: nobody shall take it for a validated run.
    """
    result = run("advise", "--from", recording, "--wide")
    lines = result.stdout.splitlines()
    by_group = {line.split()[0]: line.split() for line in lines[1:8]}
    assert by_group["locked"][2:7] == ["?"] * 5
    assert by_group["empty"][1:4] == ["Empty", "0", "4"]
    assert by_group["uneven"][1:5] == ["Stable", "2", "6", "3,000"]
    assert lines[0].split()[-1] == "Why"
    assert lines[-1] == "? unknown, - not applicable"
    assert "local run: not validated, not stored" in result.stderr


@pytest.mark.usefixtures("soon")
def test_one_group_shows_its_scoreboard_and_moves(run, recording):
    """Every strategy with its numbers and what the next change would move, the advice, and what would change hands."""
    text = run("advise", "--from", recording, "--group", "uneven", "--wide").stdout
    told = "Strategies for uneven … live … range … roundrobin … Advice: switch to … app-1 -> app-2"
    assert lacking(text, told) is None
    lines = text.splitlines()
    assert {"live", "range", "roundrobin"} <= {line.split(" ")[0] for line in lines}
    head = next(line for line in lines if line.startswith("Strategy"))
    assert "Moves if one leaves  Moves if one joins  Moves if all restart" in head
    assert "Forecast drained p10 Forecast drained p90 Restarts" in words_of(head)
    sticky = next(line for line in lines if line.startswith("cooperative-sticky "))
    assert sticky.split("needs restart")[1].split()[5:8] == ["3.00", "2", "12"]


def test_what_the_policy_leaves_out_is_shown_as_not_allowed(run, recording, tmp_path):
    """A policy that allows nothing leaves the best strategy as a comparison, and is said to be the reason."""
    (tmp_path / "evenkeel.toml").write_text("[[rules]]\npolicy = {deployment = ['plan']}\n")
    text = run("advise", "--from", recording, "--group", "uneven").stdout
    assert "Advice    Keep range: no strategy can be deployed on this group" in text
    assert "Possible  not allowed: range " in text
    assert "policy.deployment doesn't allow setting" in words_of(text)


def test_one_snapshot_alone_knows_nothing_of_what_comes(run, kafka):
    """Neither how fast a group gets anywhere nor what crosses racks; the reason says so."""
    answer = run("advise", "--bootstrap", "h:1", "--group", "uneven", "--samples", "1", "--json")
    [row] = objects(answer)
    assert row["verdict"] == "stay"
    assert "but their traffic is not known yet" in row["reason"]
    assert kafka["slept"] == []


def test_two_snapshots_confirm_nothing(run, kafka):
    """The default policy wants to see it pay for 25 minutes; the reason says so, and what would be to do is shown."""
    asked = ["advise", "--bootstrap", "h:1", "--group", "uneven", "--samples", "2"]
    [row] = objects(run(*asked, "--json"))
    assert (row["verdict"], row["advice_state"], row["strategy"]) == ("stay", "proposed", "range")
    assert row["state"] == "Stable"  # what the broker says of the group
    assert "pending: evidence 1 of 20" in row["reason"]
    assert row["reason"].endswith(" at the earliest")
    assert row["moves"]
    assert len(kafka["slept"]) == 1
    text = run(*asked).stdout
    assert "Rebalance under range (pending: evidence 1 of 20 since" in text
    assert re.search(r"Cost +1 restart, 2 of 6 partitions move\.", text)
    wide = run(*asked, "--wide").stdout
    assert "Advice: switch to range (pending)\n" in wide
    assert "How, once that is confirmed: " in wide
    assert "stay" not in text + wide


def test_a_live_cluster_is_sampled(run, kafka):
    """Three snapshots by default, progress on standard error, the connection closed."""
    result = run("advise", "--bootstrap", "h:1", "--group", "uneven", "--json")
    [row] = objects(result)
    assert (row["verdict"], row["seen"]) == ("stay", 2)
    assert "snapshot 3 of 3" in result.stderr
    assert len(kafka["slept"]) == 2
    assert kafka["cluster"].closed


@pytest.mark.slow
def test_following_back_says_what_going_through_all_snapshots_says(lake):
    """The short way and the pipeline's long way give the same advice, how far it has come included."""
    settings = Settings(lookback=12)
    source = sources.from_lake(settings, FileLake(lake), None, "lake")
    courses = {}
    for snapshot_id in source.ids(settings.lookback + 1):
        metrics = compute_metrics(source.lake, settings, snapshot_id)
        record_metrics(source.lake, snapshot_id, metrics)
        tables = metrics | propose_candidates(source.lake, settings, snapshot_id)
        at = taken_at(source.lake, snapshot_id)
        moves = partial(moves_of, source.lake, settings, snapshot_id)
        followed = advise_groups(of_tables(tables), moves, settings, "prod", at, courses, {})
        courses = {each.advice.group: each.course for each in followed if each.course}
    rest = {"how": (), "moves": (), "says": {}}
    found = [replace(one.advice, **rest) for one in judge(source)]
    assert found == [replace(each.advice, **rest) for each in followed]


@pytest.fixture(scope="module")
def source(lake):
    """The lake of the tests, with the default settings."""
    return sources.from_lake(Settings(), FileLake(lake), "prod", "lake")


@pytest.fixture(scope="module")
def judged(source):
    """Its groups."""
    return judge(source)


def test_the_metrics_are_those_of_the_step(source, judged):
    """The command line measures as `compute_metrics` does, row by row; only forecasts are made of more groups."""
    told = compute_metrics(source.lake, source.settings, source.newest)["group_metrics"].to_pylist()
    of_forecasts = {"commit_ages_seconds": None, "forecast_course": None}
    assert [{**one.metrics, **of_forecasts} for one in judged] == [
        {**row, **of_forecasts} for row in sorted(told, key=lambda row: row["group_id"])
    ]


def test_a_group_whose_past_cannot_be_worked_on_costs_nobody_the_advice(
    source, judged, monkeypatch
):
    """How often it commits stays unknown; all others are told what they are told without it."""
    observed_of, met = local_mode.observed_of, []

    def breaking(settings, groups):
        if "never" in (header.group for header in groups.batch.headers):
            met.append(len(groups.batch.headers))
            raise ArithmeticError("odd")
        return observed_of(settings, groups)

    monkeypatch.setattr(local_mode, "observed_of", breaking)
    assert [one.advice for one in judge(source)] == [one.advice for one in judged]
    assert max(met) > min(met) == 1


def test_changes_of_members_are_told_with_what_they_would_have_moved(run, kept):
    """What range moved when one of three left, a sticky strategy would have moved less of; the same in JSON."""
    held = [{"a": "01", "b": "23", "c": "45"}, {"b": "012", "c": "345"}]
    snapshots = []
    for number, owned in enumerate(held):
        members = [member(m, ["t"], {"t": list(map(int, own))}) for m, own in owned.items()]
        own = group("g", members=members, group_type="classic", assignor="range")
        snapshots.append(make_snapshot(number=number, topics=[topic("t", 6)], groups=[own]))
    asked = ["advise", "--from", kept(*snapshots), "--group", "g"]

    told = """
    Members changed: 0 joins, 1 leave, 0 restarts in 2 snapshots
    Moved: 3 partitions changed owner from one to the next; would have: range 3 … cooperative-sticky 2
    """
    assert lacking(run(*asked, "--wide").stdout, told) is None
    [row] = objects(run(*asked, "--json"))
    assert row["past_changes"]["sticky"]["would_move"] == 2
    assert "lag-aware" not in row["past_changes"]


@pytest.mark.slow
def test_how_often_a_group_commits_is_learned_from_before_it_fell_behind(run, tmp_path):
    """Behind in all that metrics look back on, a group shows it no more; the pipeline remembers, and so does this."""
    file = tmp_path / "skewed.evenkeel"
    record(file, simulate([SITUATIONS["skewed-load"].group], 36))
    [row] = objects(run("advise", "--from", str(file), "--json"))

    assert row["commit_interval_seconds"] is not None
    assert row["diagnosis"] == "skewed load"


@pytest.fixture
def swept(run):
    """Ask about the groups of a name or pattern."""

    def ask(name, stored, *options):
        return run("advise", "--group", name, "--from", stored, "--tradeoff", *options)

    return ask


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("fine", "a missing rack switches it off (KIP-925): 2 of 2 members have no rack"),
        ("moving", "rebalancing (PreparingRebalance)"),
    ],
)
def test_a_group_that_has_none_is_told_why(swept, recording, name, why):
    """Without racks there is nothing to weigh; in motion nothing said of owners would hold. The advice is there."""
    result = swept(name, recording)
    [told] = objects(swept(name, recording, "--json"))

    assert result.exit_code == 0, result.output
    assert f"No cross-rack traffic against moves: {why}" in result.stdout
    assert told["tradeoff"] is None
    assert told["tradeoff_reason"].startswith(why)
    if name == "moving":  # no number is invented for what could not be replayed
        wide = swept(name, recording, "--wide").stdout
        row = next(line for line in wide.splitlines() if line.startswith("range "))
        assert row.split()[1:9] == ["setting", "not", "applicable", *["-"] * 5]
        assert "rebalancing (PreparingRebalance)" in row


@pytest.fixture
def racked(kept):
    """Stores one snapshot of groups of two members, each on a partition across racks."""

    def stored(*names):
        members = [
            member("a", ["t"], {"t": [0]}, rack="rack-b"),
            member("b", ["t"], {"t": [1]}, rack="rack-a"),
        ]
        groups = [group(name, members=members) for name in names]
        return kept(make_snapshot(topics=[topic("t", 2)], groups=groups))

    return stored


def test_a_group_id_is_a_name_not_a_pattern(swept, racked):
    """Brackets and stars in an id mean themselves."""
    result = swept("odd[1]*", racked("odd[1]*", "odd1"))

    assert result.exit_code == 0, result.output
    assert "Cross-rack traffic against moves for odd[1]*" in result.stdout


STREAMS = [
    Thread(1, "0_0 1_0", rack="rack-a"),
    Thread(2, "0_1 1_1", rack="rack-b"),
    Thread(3, "1_2", rack="rack-b"),
]


@pytest.fixture
def application(kept):
    """Stores an application with stores and without, the data of both across racks."""
    far = {
        ("source-0", 0): ["rack-b"],
        ("source-0", 1): ["rack-a"],
        **{("source-1", n): [rack] for n, rack in enumerate(["rack-b", "rack-a", "rack-b"])},
    }
    subs = {"0": Sub(2), "1": Sub(3, ["app-store-changelog"])}
    return kept(live_snapshot(STREAMS, subs, replicas=far))


def test_points_of_streams_say_traffic_moves_and_stores_apart_and_the_settings(swept, application):
    """Tasks without state move for nothing, at costs of their own; a store is read where no copy of it is."""
    shown = swept("app", application).stdout
    [told] = objects(swept("app", application, "--json"))
    names = ("cross_rack_partitions", "moves", "stateful_moves", "restored_offsets")
    least = [row for row in told["tradeoff"] if row["strategy"] == "min_traffic"]

    assert [[row[name] for name in names] for row in least] == [[2, 2, 0, 0], [0, 4, 2, 2000]]
    weights = {"strategy": "min_traffic", "traffic_cost": 10, "non_overlap_cost": 1}
    settings = {f"rack.aware.assignment.{name}": value for name, value in weights.items()}
    assert least[0]["settings"] == settings | {
        "rack.aware.assignment.traffic_cost": 1,
        "rack.aware.assignment.non_overlap_cost": 2,
    }
    assert least[-1]["settings"] == settings
    lines = [f"{name}={value}" for name, value in settings.items()]
    assert "\n".join(["# min_traffic: 4 moves, 0 across racks", *lines]) in shown
    assert "STATEFUL  RESTORED" in shown


def test_unknown_rates_are_left_out_of_the_table(swept, racked):
    """One snapshot tells no rates: no such column, and null for machines."""
    folder = racked("g")
    shown = swept("g", folder).stdout
    table = shown[shown.index("Cross-rack traffic against moves") :]
    assert "RECORDS/S" not in table
    assert [line.split("  ")[-1] for line in table.splitlines() if line.startswith("min")] == [
        "up to 1 move",
        "1 move or more (default)",
    ]
    [told] = objects(swept("g", folder, "--json"))
    rows = told["tradeoff"]
    assert {row["cross_rack_per_second"] for row in rows} == {None}
    corners = [(r["moves"], r["worth_to"]) for r in rows if r["strategy"] == "min_traffic"]
    assert corners == [(0, 1.0), (2, None)]
