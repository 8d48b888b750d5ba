"""`evenkeel tasks`: what is printed of a live application, and how it ends for other groups."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from tests.helpers.snapshots import group, make_snapshot, topic
from tests.helpers.streams_groups import Sub, Thread, live_snapshot, on
from tests.unit.cli.conftest import objects, words_of

STORE = "app-counts-changelog"
SUBS = {"0": Sub(2), "1": Sub(2, [STORE])}
THREADS = [
    Thread(1, "0_0", rack="a", tags={"zone": "x"}, client_id="one-StreamThread-1-consumer"),
    Thread(1, "1_0", "1_1", rack="a", client_id="one-StreamThread-2-consumer"),
    Thread(2, "0_1 1_1", "1_0", rack="b", client_id="two-StreamThread-1-consumer"),
    Thread(2, rack="b", client_id="two-StreamThread-2-consumer"),
]
REPLICAS = on("source-0", "b a") | on("source-1", "a bc") | on(STORE, "b b")
TASKS = ["0_0", "0_1", "1_0", "1_1"]
ONE, TWO = (f"00000000-0000-0000-0000-00000000000{n}" for n in (1, 2))


@pytest.fixture
def shown(run, tmp_path, kept):
    """Run the command, with --wide unless told otherwise, on a lake of one application and with evenkeel.toml."""

    def show(threads=THREADS, subs=SUBS, *arguments, toml="", name="app", **more):
        (tmp_path / "evenkeel.toml").write_text(toml)
        more = {"replicas": REPLICAS} | more
        lake = kept(live_snapshot(threads, subs, **more))
        return run("tasks", "--group", name, *(arguments or ["--wide"]), "--from", lake)

    return show


def _line(result, start, after=""):
    """The cells of the first line that starts with a text, after a heading."""
    lines = result.stdout[result.stdout.index(after) :].splitlines()
    return next(line for line in lines if line.startswith(start)).split()


def test_what_runs_now_and_under_each_strategy_is_summed_up_and_listed(shown):
    """
    Crossing source partitions, crossing changelogs, cost, moves, warm-ups, counts and racks.

    Clients with what they have; with --wide tasks with what they read, in brackets how much of it across racks.
    """
    result = shown()

    assert result.exit_code == 0
    assert result.stdout.startswith("app: 4 tasks on 2 clients, strategy ")
    # 0_0 and 0_1 are far from their data; the copy on client one is far from its changelog
    assert " ".join(_line(result, "now")) == "now 2 of 4 1 of 2 0 of 2 2 - - 2 -"
    told = {name: " ".join(_line(result, name)) for name in ("none", "min_traffic")}
    assert told["none"].endswith(" 2 the strategy is none")
    assert told["min_traffic"].startswith("min_traffic 0 of 4 ")
    assert told["min_traffic"].endswith(" 0 2 0 2 counted")
    assert _line(result, "one ", "Clients:")[:7] == ["one", "a", ONE, "zone=x", "2", "2", "+"]
    assert _line(result, "two ", "Clients:")[:6] == ["two", "b", TWO, "-", "2", "2"]
    told = {task: " ".join(_line(result, task, "Tasks:")) for task in ("0_0", "1_1")}
    assert told["0_0"].startswith("0_0 source-0-0 b - - one (1)")
    assert told["1_1"].startswith("1_1 source-1-1 b,c stateful one two")
    assert [line[:3] for line in result.stdout.splitlines() if line[:3] in TASKS] == TASKS
    assert "Tasks: their client" not in shown(THREADS, SUBS, "--cluster", "test").stdout


def test_what_was_taken_for_unknown_settings_is_said_below(shown):
    """One line each; the strategy it runs has a star."""
    result = shown(
        replicas=on("source-0", "b b"),
        threads=[THREADS[0], THREADS[2]],
        subs={"0": Sub(2), "1": Sub(2)},
    )

    assert result.exit_code == 0
    assert "* current strategy; COST: 10 per cross-rack source partition" in words_of(result.stdout)
    assert "Assumed: rack.aware.assignment.strategy is assumed to be" in words_of(result.stdout)
    assert len(re.findall(r"^[a-z_-]+ \*", result.stdout, re.MULTILINE)) == 1


def test_configuration_settles_what_is_not_on_the_wire(shown):
    """Nothing is left to say, and its costs count."""
    toml = """
[[rules]]
groups = "app"
[rules.streams]
rack_aware_assignment_strategy = "balanced_min_cost"
rack_aware_assignment_traffic_cost = 3
num_standby_replicas = 1
rack_aware_assignment_tags = []
changelogs = {"0" = [], "1" = ["app-counts-changelog"]}
"""
    result = shown(toml=toml)

    assert "Assumed" not in result.stdout
    assert "COST: 3 per cross-rack source partition" in result.stdout
    assert _line(result, "balance_subtopology")[1] == "*"


def test_a_kip_1071_group_runs_what_its_broker_has(shown):
    """The star is there; it is said what the other strategies are there for."""
    result = shown(kip_1071=True)

    assert result.exit_code == 0
    assert "others are baselines, the broker assigns tasks" in words_of(result.stdout)
    assert _line(result, "sticky-tasks-server")[1] == "*"
    assert len(re.findall(r"^[a-z_-]+ \*", result.stdout, re.MULTILINE)) == 1
    assert "the broker doesn't use racks" in result.stdout


def test_unknown_racks_are_question_marks(shown):
    """A client without rack: its reads are unknown, so is the cost, and racks are off for a reason."""
    threads = [replace(THREADS[0], active="0_0 0_1 1_0 1_1")]
    result = shown([replace(threads[0], rack=None)])

    assert _line(result, "now")[:5] == ["now", "?", "-", "-", "?"]
    assert "(?)" in _line(result, "0_0", "Tasks:")
    assert "? unknown" in result.stdout
    assert "sends no rack; set client.rack" in result.stdout
    # one of four source partitions lies on a broker without rack
    partly = shown(replicas=REPLICAS | on("source-1", "a ?"))
    assert _line(partly, "now")[1:6] == ["2", "of", "3,", "1", "?"]


def test_racks_of_a_rule_count_once_they_are_sent(shown):
    """They are shown and measured by; Kafka sees none until clients send them."""
    rule = 'racks = {"one-*" = "a", "two-*" = "b"}'
    toml = f'[[rules]]\ngroups = "app"\n{rule}\n'
    silent = [replace(one, rack=None) for one in THREADS]
    result = shown(silent, toml=toml)
    (told,) = objects(shown(silent, SUBS, "--json", toml=toml))

    assert _line(result, "one ", "Clients:")[1] == "a"
    assert " ".join(_line(result, "now")).startswith("now 2 of 4 1 of 2")
    least = " ".join(_line(result, "min_traffic"))
    assert least.startswith("min_traffic 0 of 4 ")
    assert least.endswith(" counted once client.rack is set on one, two")
    assert [client["sends_rack"] for client in told["clients"]] == [False, False]
    assert told["strategies"][2]["client_rack_missing"] == ["one", "two"]


def test_what_is_wrong_with_racks_is_told(shown):
    """An instance without rack; a rack of no broker; who serves reads, and that cost goes by replicas all the same."""
    bare = shown([*THREADS[:2], *(replace(one, rack=None) for one in THREADS[2:])])
    stray = shown([*THREADS[:2], *(replace(one, rack="us-b") for one in THREADS[2:])])
    near = on("source-0", "ba ab") | on("source-1", "a bc")
    led = shown(replicas=near | on(STORE, "b b"), follower_fetching=False)

    assert "Finding rack-aware assignment is off for all 2 clients (KIP-925)" in words_of(
        bare.stdout
    )
    assert "Finding no broker has the rack us-b" in words_of(stray.stdout)
    assert "Finding 50% of its partitions are read across racks because brokers" in words_of(
        led.stdout
    )
    assert _line(led, "now")[1:4] == ["2", "of", "4"]
    assert "source partition without a replica in the client's rack" in words_of(led.stdout)


def test_a_task_that_runs_nowhere_is_nobodys(shown):
    """And a strategy finds it a place."""
    threads = [Thread(1, "1_0", "1_1", rack="a"), Thread(2, rack="b")]
    result = shown(threads, {"1": Sub(2, [STORE])})

    assert "no client" in " ".join(_line(result, "1_1", "Tasks:"))
    assert "1 task (1_1) runs nowhere at the moment" in result.stdout


def test_clients_that_share_a_client_id_go_by_their_process(shown):
    """Two processes of one `client.id`, and one whose threads have two, cannot go by it."""
    threads = [
        Thread(1, "0_0", rack="a", client_id="same-StreamThread-1-consumer"),
        Thread(2, "0_1", rack="b", client_id="same-StreamThread-1-consumer"),
        Thread(3, rack="c", client_id="x-StreamThread-1-consumer"),
        Thread(3, rack="c", client_id="y-StreamThread-2-consumer"),
        Thread(4, rack="c", client_id="plain"),
    ]
    (told,) = objects(shown(threads, {"0": Sub(2)}, "--json"))

    names = [(client["name"], client["process_id"]) for client in told["clients"]]
    assert [name == process for name, process in names] == [True, True, True, False]
    assert names[3][0] == "plain"


def test_names_cannot_drive_the_terminal(shown):
    """Control characters of an application, a client id, a tag and a topic are shown, not obeyed."""
    bad = "\x1b[31mred-StreamThread-1-consumer"
    threads = [Thread(1, "0_0", rack="a", client_id=bad, tags={"z": "\x1b[2J"})]
    subs = {"0": Sub(1), "7": Sub(3, ["app-\x1b[5m-changelog"])}
    named = shown(columns={"group_id": "a\x1b[2Jb"}, name="a\x1b[2Jb")
    result = shown(threads, subs)

    assert "\x1b" not in result.stdout + named.stdout
    assert named.stdout.startswith("a\\x1b[2Jb: 4 tasks")
    assert "\\x1b[31mred" in result.stdout
    assert "changelog app-\\x1b[5m-changelog has 3 partitions" in result.stdout


def test_json_tells_the_same(shown):
    """One object on one line: settings, clients, tasks with a placement per strategy, strategies."""
    (told,) = objects(shown(THREADS, SUBS, "--json"))
    now = {task["task"]: tuple(task["placements"]["now"].values()) for task in told["tasks"]}

    assert (told["group"], told["strategy_configured"]) == ("app", False)
    assert told["strategy"] in ("none", "min_traffic", "balance_subtopology")
    assert told["clients"][0] == {
        "process_id": ONE,
        "name": "one",
        "rack": "a",
        "sends_rack": True,
        "tags": {"zone": "x"},
        "threads": 2,
    }
    first, *_, last = told["tasks"]
    assert (first["task"], first["stateful"], first["reads"]) == ("0_0", False, ["source-0-0"])
    kept = ["active", "copies", "cross_rack_partitions", "in_one_rack"]
    assert list(first["placements"]["now"]) == kept
    assert (now["0_0"], now["1_1"]) == ((ONE, [], 1, None), (TWO, [ONE], 0, False))
    assert last["replica_racks"] == ["b,c"]
    asked = ["now", "none", "min_traffic", "balance_subtopology"]
    assert [row["strategy"] for row in told["strategies"]] == asked
    now, none, best, _ = told["strategies"]
    assert (now["cross_rack_partitions"], now["cost"], now["moves"]) == (2, 2, 0)
    assert (best["cross_rack_partitions"], best["racks_off"]) == (0, None)
    assert none["racks_off"] == "the strategy is none"
    assert (now["copies_cross_rack_partitions"], now["copies_unknown_partitions"]) == (1, 0)
    assert [now[f"stores_{name}"] for name in ("in_one_rack", "judged", "unknown")] == [0, 2, 0]


def test_json_says_null_where_nothing_is_known(shown):
    """A client without rack, and a task that runs nowhere; a KIP-1071 group runs its broker's strategy."""
    threads = [Thread(1, "1_0", "1_1"), Thread(2, rack="b")]
    (told,) = objects(shown(threads, {"1": Sub(2, [STORE])}, "--json", kip_1071=True))

    assert told["strategy"] == "sticky-tasks-server"
    assert told["clients"][0]["rack"] is None
    runs, idle = (task["placements"]["now"] for task in told["tasks"])
    assert (runs["active"], runs["cross_rack_partitions"]) == (ONE, None)
    assert (idle["active"], idle["copies"]) == (None, [ONE])
    now = told["strategies"][0]
    assert (now["cost"], now["unknown_partitions"]) == (None, 1)


def test_a_plain_group_is_sent_elsewhere(run, kept):
    """Exit code 1, one line, and the command that shows it."""
    plain = make_snapshot(topics=[topic("t")], groups=[group("web", members=1, lag={"t": 1})])
    result = run("tasks", "--group", "web", "--from", kept(plain))

    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        "evenkeel: group web is no Kafka Streams application: its members are assigned partitions."
        " Look at it with `evenkeel advise --group web`.\n"
    )


MOVING = {"columns": {"state": "PreparingRebalance"}}
REBALANCES = (
    "the tasks of group app cannot be shown: rebalancing (PreparingRebalance). "
    "Retry once the group is Stable.\n"
)


@pytest.mark.parametrize(
    ("threads", "subs", "more", "told"),
    [
        (THREADS, SUBS, MOVING, REBALANCES),
        (THREADS, SUBS, MOVING | {"kip_1071": True}, REBALANCES),
        ([], SUBS, {}, "the tasks of group app cannot be shown: no members (Empty)"),
        (
            [Thread(1, "0_0"), Thread(2, "0_0")],
            {"0": Sub(1)},
            {},
            "task 0_0 of app is active on two members.",
        ),
    ],
)
def test_an_application_that_cannot_be_shown_says_why(shown, threads, subs, more, told):
    """Exit code 1, and one line with what helps."""
    result = shown(threads, subs, **more)

    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(f"evenkeel: {told}")
    assert len(result.stderr.splitlines()) == 1


def test_the_sticky_assignor_is_shown_where_it_is_configured(shown):
    """It has the star; strategies of the other assignor have neither row nor column."""
    result = shown(toml='[[rules]]\ngroups = "app"\nstreams = {task_assignor = "sticky"}\n')

    assert result.exit_code == 0
    assert _line(result, "sticky-tasks")[1] == "*"
    assert "min_traffic" not in result.stdout
    assert "COST: 1 per cross-rack source partition" in result.stdout
    assert "assigns standbys in a random order" in result.stdout
