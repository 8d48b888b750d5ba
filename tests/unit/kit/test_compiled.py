"""One source, two speeds: a kernel interpreted and compiled."""

from __future__ import annotations

import numpy as np
import pytest

from evenkeel.engine.kit.compiled import (
    WORTH_COMPILING,
    WORTH_GOING_ON,
    WORTH_MAKING,
    Tally,
    at_work,
    kernel,
)


@kernel
def doubled(number):
    """Twice the number."""
    return 2 * number


@kernel
def total(numbers):
    """The sum of the doubled numbers."""
    found = 0
    for number in numbers:
        found += doubled(number)
    return found


@pytest.mark.slow
def test_both_forms_answer_alike():
    """Compiled code calls the compiled form of the kernels it names, and gives what the interpreter gives."""
    numbers = np.arange(1000)

    assert total.fast(numbers) == total(numbers) == 999_000
    assert total.fast.nopython_signatures, "it was compiled, not merely wrapped"


@pytest.mark.slow
def test_a_compiled_form_is_found_by_the_next_process():
    """It is kept beside the source, where `kept` looks for it."""
    total.fast(np.arange(3))

    assert kernel(total.function).kept


@pytest.mark.slow
def test_without_a_place_to_keep_it_the_compiled_form_still_works(monkeypatch):
    """A read-only installation and no home, as in many a container, cost time but no answer."""
    from numba.core import caching

    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])

    assert kernel(doubled.function).fast(21) == 42


def test_the_work_chooses_the_form():
    """Numba is not even started for a group that is done before it would be ready."""
    assert at_work(total, WORTH_COMPILING - 1) is total
    assert at_work(total, WORTH_COMPILING) is total.fast


def test_many_small_calls_come_to_compiled_code(monkeypatch):
    """Thousands of small groups in one process are as much work as a large one, where it is compiled already."""
    monkeypatch.setitem(vars(total), "kept", True)
    tally = Tally()

    assert at_work(total, WORTH_GOING_ON - 1, tally) is total
    assert at_work(total, 1, tally) is total.fast


def test_compiling_first_takes_more_small_calls(monkeypatch):
    """Where no compiled form is kept, a process that ends soon is better off without."""
    monkeypatch.setitem(vars(total), "kept", False)
    tally = Tally()

    assert {at_work(total, WORTH_GOING_ON // 2, tally) for _ in range(10)} == {total}
    tally.steps = WORTH_MAKING
    assert at_work(total, 1, tally) is total.fast


def test_a_kernel_looks_like_its_function():
    """Name and docstring are those of the function, for help and tracebacks."""
    assert (total.__name__, total.__doc__) == ("total", "The sum of the doubled numbers.")
