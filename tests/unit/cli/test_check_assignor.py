"""`evenkeel check-assignor`: what it finds, on how small a group, and how it says so."""

from __future__ import annotations

import json
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

import evenkeel.engine.assignors
from evenkeel.engine.cli.verbs.check_assignor import ANSWERS
from tests.unit.cli.conftest import objects

pytestmark = pytest.mark.slow

DATA = Path(__file__).parents[2] / "data"
BROKEN = DATA / "broken_assignors.py"
WEIGHTED = DATA / "weighted_assignor.py"
LEADER_RACK = DATA / "leader_rack_assignor.py"
HEEDS = "what members sent shows in some of its answers"


@pytest.fixture
def install(monkeypatch):
    """Register a class as a custom strategy."""

    def install(name, module, what):
        point = EntryPoint(name=name, value=f"{module}:{what}", group="evenkeel.assignors")
        monkeypatch.syspath_prepend(str(DATA))
        monkeypatch.setattr(evenkeel.engine.assignors, "entry_points", lambda group: [point])
        evenkeel.engine.assignors._installed.cache_clear()

    yield install
    evenkeel.engine.assignors._installed.cache_clear()


def _failed(result):
    return [row for row in objects(result, 1) if row["outcome"] == "FAIL"]


def _shape(case):
    """What a case holds: per topic its lags or number of partitions, per member its topics and what else it says."""
    topics = [t.get("lags", len(t["partitions"])) for t in case["topics"].values()]
    members = [
        (
            len(m["topics"]),
            *("claim" if k == "owned" else k for k in m if k not in ("id", "topics")),
        )
        for m in case["members"]
    ]
    return sorted(topics, key=str), sorted(members)


@pytest.mark.parametrize(
    ("what", "promise", "found", "shape"),
    [
        ("LeavesLongLags", "complete", "1 of 1 partitions without owner", ([[7]], [(1,)])),
        ("GivesToStrangers", "subscribed", "1 partition owned without", ([1], [(0,), (1,)])),
        ("ChangesItsMind", "repeatable", "asked twice, it answered differently", ([1], [(1,)])),
        ("SortsItsInput", "untouched", "it changed lag", ([[1, 0]], [])),
        ("TakesTheFirstListed", "order_free", "backwards, it answered", ([1], [(1,), (1,)])),
        ("SharesTopicsBadly", "even_topics", "one member owns 2, another 0", ([2], [(1,), (1,)])),
        ("SharesTheGroupBadly", "even_group", "one member owns 2, another 0", ([1, 1], [(2,), (2,)])),
        ("Stumbles", None, "it raised LookupError: rack 0 again", ([], [(0, "rack"), (0, "rack")])),
        ("TrustsClaims", None, "it raised IndexError", ([], [(0, "claim")])),
        ("Forgets", None, "it answered a NoneType, not an Assignment", ([], [])),
        ("Leaves", None, "it raised SystemExit: bye", ([], [])),
    ],
)  # fmt: skip
def test_what_is_broken_is_found_and_shown_on_the_smallest_group(run, what, promise, found, shape):
    """Each promise, and each way to give no answer, down to a group with nothing left to take away."""
    failed = _failed(run("check-assignor", f"{BROKEN}:{what}", "--json", "--groups", "50"))

    assert failed[0]["promise"] == promise
    assert found in failed[0]["found"]
    topics, members = _shape(failed[0]["case"])
    assert (topics, members) == shape


def test_a_sound_class_passes(run):
    """Nothing fails, what is not promised is told beside it, and the exit code says so."""
    rows = objects(run("check-assignor", f"{BROKEN}:Deals", "--json", "--groups", "60"))

    assert [row["outcome"] for row in rows] == ["OK"] * 6 + ["not promised"] * 2
    assert [row["promise"] for row in rows][:3] == [None, "complete", "subscribed"]
    assert {row["checked"] for row in rows} == {60}
    assert rows[-1]["broken"] > 0


def test_people_read_a_table_the_fault_and_the_group(run):
    """All promises with their outcome, then the violation, its group, what it gets, and the case."""
    result = run("check-assignor", f"{BROKEN}:LeavesLongLags", "--groups", "40", "--seed", "3")
    text = result.stdout

    assert result.exit_code == 1
    assert text.startswith(f"deals ({BROKEN}:LeavesLongLags): 40 random groups, seed 3\n")
    assert "\nFAIL          every partition of a subscribed topic has an owner" in text
    assert "\nOK            the input is not changed" in text
    assert "\nFAIL: every partition of a subscribed topic has an owner\n  1 of 1 partitions" in text
    assert "lags\n" in text.split("The smallest group found that shows it:")[1]
    assert json.loads(text.splitlines()[-1])["strategy"] == "deals"


def test_the_printed_case_shows_the_fault_to_assign(run, install):
    """Once the class is registered, `evenkeel assign` takes the line as it stands."""
    install("deals", "broken_assignors", "LeavesLongLags")
    checked = run("check-assignor", f"{BROKEN}:LeavesLongLags", "--groups", "40")
    [answer] = objects(run("assign", input=checked.stdout.splitlines()[-1]))

    assert list(answer["assignment"].values()) == [[]]


def test_an_exception_is_shown_with_where_it_arose(run):
    """The line in the class's own file, and the deeper one where that is another."""
    [row] = _failed(run("check-assignor", f"{BROKEN}:Stumbles", "--json", "--groups", "30"))[:1]

    assert row["where"].startswith("broken_assignors.py:")
    assert row["where"].endswith('in _note: raise LookupError(f"rack {rack} again")')
    assert "(LookupError)" in row["means"]


def test_answers_that_differ_stand_beside_each_other(run):
    """Where the order of the input shows, both answers are there to compare."""
    result = run("check-assignor", f"{BROKEN}:TakesTheFirstListed", "--json", "--groups", "30")
    row = next(row for row in _failed(result) if row["promise"] == "order_free")
    listed, backwards = row["answers"]["as listed"], row["answers"]["listed backwards"]

    assert sorted(map(len, listed.values())) == sorted(map(len, backwards.values())) == [0, 1]
    assert listed != backwards


def test_the_same_seed_says_the_same(run):
    """Who wants to mend something must meet it again; another seed asks about other groups."""
    command = ("check-assignor", f"{BROKEN}:SortsItsInput", "--groups", "25", "--seed")
    first, again, other = (run(*command, seed).stdout for seed in ("1", "1", "2"))

    assert first == again
    assert first.replace("seed 1", "seed 2") != other


def test_a_class_that_never_runs_shows_nothing_and_fails(run):
    """Keeping promises by never answering does not count; its own reason is told."""
    result = run("check-assignor", f"{BROKEN}:Refuses", "--groups", "20")

    assert result.exit_code == 1
    assert "infeasible on 20 (first: refuses wants a moon.)" in result.stdout
    assert "answered none of 20 groups" in result.stderr


def test_what_the_class_prints_is_no_part_of_the_output(run, monkeypatch):
    """Machines read standard output; who debugs finds the chatter on the other stream."""
    quiet = run("check-assignor", f"{BROKEN}:Chatters", "--json", "--groups", "5")
    monkeypatch.setenv("EVENKEEL_DEBUG", "1")
    debugged = run("check-assignor", f"{BROKEN}:Chatters", "--json", "--groups", "5")

    assert "chatter" not in quiet.output
    assert "chatter" in debugged.stderr
    assert quiet.stdout == debugged.stdout


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("x = 1\ny = 1 / 0\n", "ZeroDivisionError: division by zero (mine.py:2)"),
        ("def broken(:\n", "SyntaxError"),
        ("import sys\nsys.exit(3)\n", "SystemExit: 3 (mine.py:2)"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_imported_is_told_with_the_line(
    run, tmp_path, monkeypatch, source, told
):
    """A stranger's mistake is theirs and never a traceback."""
    (tmp_path / "mine.py").write_text(source, encoding="utf-8")
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    result = run("check-assignor", "mine:Mine")

    assert result.exit_code == 2
    assert "cannot be imported: " in result.stderr
    assert told in result.stderr


def test_a_class_is_found_by_module_beside_its_helpers_and_as_an_object(run, tmp_path, monkeypatch):
    """The folder one stands in counts, so does the file's own, and an assignor needs no class."""
    package = tmp_path / "mine_too"
    package.mkdir()
    text = BROKEN.read_text(encoding="utf-8")
    (package / "beside.py").write_text(text, encoding="utf-8")
    (package / "random.py").write_text("from beside import Deals\nREADY = Deals()\n", "utf-8")
    by_module = run("check-assignor", "mine_too.beside:Deals", "--groups", "3")
    by_path = run("check-assignor", "mine_too/random.py:READY", "--groups", "3")

    assert (by_module.exit_code, by_path.exit_code) == (0, 0), by_module.output + by_path.output


def test_data_of_members_can_be_chosen(run):
    """What a strategy's members carry is drawn from the options instead of weights."""
    options = ("--data", '{"weight": "x"}', "--json", "--groups", "40")
    [row] = _failed(run("check-assignor", f"{WEIGHTED}:Weighted", *options))

    assert "TypeError" in row["found"]
    assert [m["user_data"] for m in row["case"]["members"]] == [{"weight": "x"}]


@pytest.mark.parametrize("place", [WEIGHTED, LEADER_RACK])
def test_the_worked_examples_keep_their_promises(run, place):
    """Those of docs/how-to/write-a-strategy.md, on groups whose members all sent what they say they read."""
    *rows, heeds = objects(run("check-assignor", place, "--json"))

    assert {row["checked"] for row in rows} == {300}
    assert (heeds["means"], heeds["outcome"]) == (HEEDS, "OK")
    assert len(place.read_text(encoding="utf-8").splitlines()) <= 40


@pytest.mark.parametrize("what", ["NeverLooks", "ChokesOnNothing", "Forgets"])
def test_a_class_that_deals_wrongly_with_what_members_sent_is_found(run, what):
    """It looks elsewhere, or takes for granted what a sample leaves out; of who needs none this is not asked."""
    failed = _failed(run("check-assignor", f"{BROKEN}:{what}", "--json", "--groups", "60"))
    told = {
        "NeverLooks": ("no answer changed when members exchanged", HEEDS),
        "ChokesOnNothing": ("it raised KeyError: 'weight'", f"{ANSWERS} (KeyError)"),
        "Forgets": ("it answered a NoneType", ANSWERS),
    }

    assert [(row["found"][: len(told[what][0])], row["means"]) for row in failed] == [told[what]]


def test_the_worked_example_assigns_by_weight(run, install):
    """Registered as an entry point, it answers cases; what was sent counts, of who sent none what is configured."""
    install("weighted", "weighted_assignor", "Weighted")
    case = {
        "id": 1,
        "strategy": "weighted",
        "topics": {"t": {"partitions": [[]] * 6}},
        "members": [
            {"id": "light", "topics": ["t"], "config": {"weight": 1}},
            {"id": "heavy", "topics": ["t"], "config": {"weight": 9}, "user_data": {"weight": 2}},
        ],
    }
    light, heavy = case["members"]
    silent = [heavy, {"id": "silent", "topics": ["t"]}]
    others = [[light | {"config": {"weight": 0}}], silent]
    lines = [json.dumps(case | {"members": members}) for members in ([light, heavy], *others)]
    answer, refused, missing = objects(run("assign", input="\n".join(lines)))

    assert {m: len(p) for m, p in answer["assignment"].items()} == {"light": 2, "heavy": 4}
    assert refused["error"].startswith("weighted needs weights above 0, the least is 0.")
    assert "of 1 of 2 (silent) none is given. Give each user_data, or config." in missing["error"]
