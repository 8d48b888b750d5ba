"""One source, two speeds: a kernel interpreted and compiled."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

from evenkeel.engine.assignors.kit import kernels
from evenkeel.engine.assignors.kit.kernels import (
    ENDLESS,
    WORTH_COMPILING,
    WORTH_LOADING,
    WORTH_MAKING,
    WORTH_STARTING,
    Kernel,
    Tally,
    at_work,
    held_to,
    steps_until_compiled,
    work,
)

FACTOR = 2


@Kernel
def doubled(number):
    """Twice the number."""
    return FACTOR * number


@Kernel
def total(numbers):
    """The sum of the doubled numbers."""
    found = 0
    for number in numbers:
        found += doubled(number)
    return found


@pytest.fixture
def fresh(monkeypatch):
    """Makes a kernel that this process has not compiled, kept or not; Numba runs or not."""

    def make(*, kept, started=False):
        monkeypatch.setattr(Kernel, "started", started)
        monkeypatch.setattr(Tally, "of_all", 0)
        made = Kernel(total.function)
        vars(made)["kept"] = kept
        return made

    return make


@pytest.mark.slow
def test_both_forms_answer_alike():
    """Compiled code calls the compiled form of the kernels it names, and gives what the interpreter gives."""
    numbers = np.arange(1000)

    assert total.fast(numbers) == total(numbers) == 999_000
    assert total.fast.nopython_signatures, "it was compiled, not merely wrapped"


@Kernel
def counted_down(steps, start, numbers):
    """Fill in numbers that fall from the first of *start* by *steps*."""
    for place in range(len(numbers)):
        numbers[place] = start[0] - steps * place
    return len(numbers)


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_what_a_kernel_fills_in_comes_back_in_the_array(compiled):
    """Whichever form does the work, the arrays that it changes hold the result, and its answer is returned."""
    numbers = np.zeros(3, np.int64)
    with held_to(compiled=compiled):
        answer = work(counted_down, 1, None, (2, np.array([9])), numbers)

    assert (answer, numbers.tolist()) == (3, [9, 7, 5])


PROGRAM = """
import json
from evenkeel.engine.assignors.kit.kernels import kernel
from factors import FACTOR

@kernel
def scaled(number):
    return FACTOR * number

@kernel
def total(numbers):
    found = 0
    for number in numbers:
        found += scaled(number)
    return found

if __name__ == "__main__":
    import numpy
    from sums import total
    kept, answer = total.kept, int(total.fast(numpy.arange(4)))
    print(json.dumps([kept, answer, sum(total.fast.stats.cache_hits.values())]))
"""


@pytest.fixture
def program(tmp_path):
    """A program with a kernel, and how to run it: was its form kept, its answer, how many forms were loaded."""
    folder = tmp_path / "here"
    folder.mkdir()
    (folder / "sums.py").write_text(PROGRAM)
    (folder / "factors.py").write_text("FACTOR = 2\n")

    def run(folder=folder, **more):
        paths = [str(folder), os.getcwd()]
        done = subprocess.run(
            [sys.executable, "-B", str(folder / "sums.py")],
            env={"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(paths), **more},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    run.folder = folder
    return run


@pytest.mark.slow
def test_a_form_is_found_by_the_next_process_and_on_another_path(program, tmp_path):
    """It lies beside the source; a copy of both needs no times of files kept, and nothing is written to use it."""
    assert program() == "[false, 12, 0]"
    assert program() == "[true, 12, 1]"

    there = tmp_path / "else" / "where"
    there.mkdir(parents=True)
    for each in program.folder.iterdir():
        (shutil.copytree if each.is_dir() else shutil.copyfile)(each, there / each.name)
    before = [(path, path.stat().st_mtime_ns) for path in sorted(there.rglob("*"))]

    assert program(there) == "[true, 12, 1]"
    assert [(path, path.stat().st_mtime_ns) for path in sorted(there.rglob("*"))] == before


@pytest.mark.slow
def test_a_form_that_does_not_fit_is_made_again(program):
    """Another processor, a constant of another module that has changed, a file that cannot be read."""
    program()

    assert program(NUMBA_CPU_NAME="x86-64-v2") == "[true, 12, 0]"
    (program.folder / "factors.py").write_text("FACTOR = 3\n")
    assert program() == "[true, 18, 0]"
    for index in (program.folder / "__pycache__").glob("*.nbi"):
        index.write_bytes(index.read_bytes()[:-9])
    assert program() == "[true, 18, 0]"


@pytest.mark.slow
def test_without_a_place_to_keep_it_the_compiled_form_still_works(monkeypatch):
    """A read-only installation and no home, as in many a container, cost time but no answer."""
    monkeypatch.setattr(Kernel, "folders", lambda _: iter(()))

    assert Kernel(doubled.function).fast(21) == 42


def test_forms_lie_where_the_user_says_else_beside_the_source_else_in_the_users_cache(
    monkeypatch, tmp_path
):
    """Best first; a user without a home has no cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "said"))
    said, beside, cache = total.folders()
    assert (said.parent, cache.parent) == (tmp_path / "said/evenkeel", tmp_path / "cache/evenkeel")
    assert beside == total.source.parent / "__pycache__"

    for name in ("XDG_CACHE_HOME", "NUMBA_CACHE_DIR"):
        monkeypatch.delenv(name)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    assert list(total.folders()) == [beside]


@pytest.fixture
def with_numba(monkeypatch):
    """As where it is installed: `tests/conftest.py` says that it is not, so that no fast test loads it."""
    monkeypatch.setattr(kernels, "_numba_version", lambda: "1.0")


@pytest.mark.usefixtures("with_numba")
def test_the_work_chooses_the_form(fresh):
    """Numba is not even started for a group that is done before it would be ready."""
    loop = fresh(kept=False)
    assert at_work(loop, WORTH_COMPILING - 1) is loop
    vars(loop)["fast"] = "compiled"
    assert at_work(loop, 1) == "compiled", "what is loaded costs nothing"


@pytest.mark.usefixtures("with_numba")
@pytest.mark.parametrize(
    ("kept", "started", "worth"),
    [
        (True, True, WORTH_LOADING),
        (True, False, WORTH_STARTING),
        (False, True, WORTH_MAKING),
        (False, False, WORTH_MAKING),
    ],
)
def test_many_small_calls_come_to_compiled_code(monkeypatch, fresh, kept, started, worth):
    """Thousands of small groups in one process are as much work as a large one, and sooner where less is to be paid."""
    loop, tally = fresh(kept=kept, started=started), Tally()
    monkeypatch.setattr(Kernel, "fast", "compiled")

    assert {at_work(loop, worth // 10, tally) for _ in range(9)} == {loop}
    assert steps_until_compiled(loop, tally) == worth - worth // 10 * 9
    assert at_work(loop, worth // 10, tally) == "compiled"


@pytest.mark.usefixtures("with_numba")
@pytest.mark.parametrize(("kept", "started"), [(True, False), (True, True), (False, False)])
def test_numba_starts_for_what_all_strategies_ask_together(monkeypatch, fresh, kept, started):
    """A process of many small groups comes to kept forms by all that it does; others load where each pays."""
    loop = fresh(kept=kept, started=started)
    monkeypatch.setattr(Kernel, "fast", "compiled")
    Tally().add(WORTH_STARTING)

    starts = kept and not started
    assert at_work(loop, 1, Tally()) == ("compiled" if starts else loop)


def test_without_numba_everything_is_interpreted(monkeypatch, fresh):
    """A worker whose archive leaves it out takes longer, and gives the same answers."""
    monkeypatch.setattr(kernels, "_numba_version", lambda: None)
    loop = fresh(kept=None)
    del vars(loop)["kept"]

    assert at_work(loop, WORTH_COMPILING) is loop
    assert at_work(loop, WORTH_MAKING, Tally()) is loop
    assert steps_until_compiled(loop, Tally()) == ENDLESS


def test_one_form_can_be_asked_for(fresh):
    """To compile ahead, and to compare."""
    loop = fresh(kept=True)
    with held_to(compiled=False):
        assert at_work(loop, WORTH_COMPILING) is loop
    vars(loop)["fast"] = "compiled"
    with held_to(compiled=True):
        assert at_work(loop, 1) == "compiled"
    assert kernels._compiled_only is None


def test_a_kernel_looks_like_its_function():
    """Name and docstring are those of the function, for help and tracebacks."""
    assert (total.__name__, total.__doc__) == ("total", "The sum of the doubled numbers.")
