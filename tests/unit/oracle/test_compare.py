"""Both sides asked, counted and told apart."""

from __future__ import annotations

import json

import pytest

from evenkeel.engine.errors import Infeasible
from tests.oracle import __main__ as command
from tests.oracle import compare as comparing
from tests.oracle import jvm as jvm_module
from tests.oracle.compare import compare, ours
from tests.stage.process import LocalClusterError


class FakeJvm:
    """Answers as ours does, but for what *wrong* changes."""

    def __init__(self, folder, wrong=lambda case, told: told):
        self.folder = folder
        self.wrong = wrong

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        pass

    def ask(self, case):
        """An answer, read as from a line."""
        return self.wrong(case, json.loads(json.dumps(ours(case))))


def without_partition_0(case, told):
    """Kafka, if it forgot partition 0 of every topic."""
    if "error" in told:
        return told
    lists = {m: [p for p in owned if p[1]] for m, owned in told["assignment"].items()}
    return {**told, "assignment": lists}


def test_equal_answers_are_counted(tmp_path):
    """Every group is asked once, and of each its kinds are counted."""
    ticks = []

    compared = compare(FakeJvm(tmp_path), "range", 60, 5, tick=lambda: ticks.append(1))

    assert (compared.same, compared.different, len(ticks)) == (60, 0, 60)
    assert 0 < compared.features["racks"] < 60


def test_most_groups_follow_from_the_answer_before(tmp_path):
    """Time passes over a group that was answered: its members tell of what Kafka gave them."""
    asked, told = [], []

    def remembering(case, answer):
        asked.append(case)
        told.append(answer)
        return answer

    compare(FakeJvm(tmp_path, remembering), "range", 40, 5)
    follow = [
        any(m["owned"] and m["owned"] == before["assignment"].get(m["id"]) for m in case["members"])
        for before, case in zip(told, asked[1:], strict=False)
    ]

    assert 10 < sum(follow) < 35


def test_a_difference_is_made_small_and_written(tmp_path):
    """The smallest group that shows it is in a file with both answers; only so many are."""
    compared = compare(FakeJvm(tmp_path, without_partition_0), "range", 40, 5, shown=2)
    files = [json.loads(file.read_text()) for file in sorted(tmp_path.iterdir())]

    assert compared.different > 2
    assert len(compared.shown) == len(files) == 2
    for file in files:
        (topic,) = file["case"]["topics"].values()
        assert len(file["case"]["members"]) == len(topic["partitions"]) == 1
        assert file["kafka"]["assignment"] != file["ours"]["assignment"]


def test_a_fault_of_ours_is_no_error_of_kafkas(monkeypatch):
    """Where Kafka's class throws, a typed error is right and any other exception is wrong."""
    case = {"id": 1, "strategy": "range", "members": []}

    def raising(problem):
        def answer(_case):
            raise problem

        monkeypatch.setattr(comparing, "answer", answer)
        return ours(case)

    assert raising(Infeasible("no members.")) == {"id": 1, "error": "no members."}
    assert "error" not in raising(KeyError("x"))


def test_the_command_says_how_many_are_the_same(tmp_path, monkeypatch, capsys):
    """One line per strategy, one for each that is missing, and what was asked."""
    monkeypatch.setattr(command, "Jvm", lambda: FakeJvm(tmp_path))
    monkeypatch.setattr(command, "ASSIGNORS", {"range": None, "roundrobin": None})

    status = command.main(["--groups", "20", "--strategy", "range", "--strategy", "sticky"])
    said = capsys.readouterr().out

    assert status == 0
    assert "range: same 20 of 20" in said
    assert "sticky: evenkeel has no such strategy yet" in said
    assert "roundrobin" not in said
    assert "static members" in said


def test_the_command_fails_when_answers_differ(tmp_path, monkeypatch, capsys):
    """Exit status 1 if one strategy does, and the differences with their files."""

    def wrong(case, told):
        return without_partition_0(case, told) if case["strategy"] == "range" else told

    monkeypatch.setattr(command, "Jvm", lambda: FakeJvm(tmp_path, wrong))

    status = command.main(["--groups", "20", "--strategy", "range", "--strategy", "roundrobin"])

    assert status == 1
    assert str(next(tmp_path.iterdir())) in capsys.readouterr().out


def test_a_java_without_compiler_is_one_line(tmp_path, monkeypatch, capsys):
    """It names what to install; the exit status tells it from a difference."""
    monkeypatch.setattr(jvm_module, "has_compiler", lambda java: False)
    monkeypatch.setattr(jvm_module, "find_java", lambda: ("java", 17))
    monkeypatch.setattr(command, "Jvm", lambda: jvm_module.Jvm(home=tmp_path))

    status = command.main([])
    said = capsys.readouterr().err

    assert status == 2
    assert said == jvm_module.NO_COMPILER + "\n"
    assert "install a JDK >= 17" in said


def test_a_jvm_that_says_nothing_is_told_with_its_last_words(tmp_path):
    """A process that ended is an error that names the case and shows the log."""
    broken = jvm_module.Jvm.__new__(jvm_module.Jvm)
    broken.log = tmp_path / "jvm.log"
    broken.log.write_text("out of memory\n")
    broken._process = jvm_module.subprocess.Popen(
        ["true"], stdin=jvm_module.subprocess.PIPE, stdout=jvm_module.subprocess.PIPE
    )

    with broken, pytest.raises(LocalClusterError, match=r"(?s)'sticky-1'.*out of memory"):
        broken.ask({"id": "sticky-1"})
