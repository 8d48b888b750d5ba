"""The table of strategies, and the custom ones that join it."""

from __future__ import annotations

import inspect
import pkgutil
import sys
from importlib.metadata import EntryPoint
from typing import ClassVar

import pytest

import evenkeel.engine.assignors
from evenkeel.engine.assignors import ASSIGNORS, ENTRY_POINTS, by_name, custom, every
from evenkeel.engine.assignors.interface import Assignor
from evenkeel.engine.model.assignments import Assignment, Deployment
from evenkeel.engine.model.errors import InputError

ours = pytest.mark.parametrize("name", list(ASSIGNORS))


class Everything:
    """A custom strategy: the first member owns everything."""

    name: ClassVar[str] = "everything"
    works_on: ClassVar[frozenset[str]] = frozenset({"partitions"})
    needs: ClassVar[frozenset[str]] = frozenset()
    deployment: ClassVar[Deployment] = Deployment.CLASS
    source: ClassVar[str] = "a test"

    def assign(self, group):
        """Nothing is looked at."""
        return Assignment(owner=group.owner * 0)


class Ours(Everything):
    """A custom strategy that takes a name of ours."""

    name: ClassVar[str] = "range"


class Odd(Everything):
    """A custom strategy whose deployment is no Deployment."""

    name: ClassVar[str] = "odd"
    deployment: ClassVar[str] = "setting"


class Incomplete:
    """A custom strategy without most of it."""

    name: ClassVar[str] = "incomplete"


def _point(name, what):
    return EntryPoint(name=name, value=f"{__name__}:{what}", group=ENTRY_POINTS)


@pytest.fixture
def install(monkeypatch):
    """Pretend that some custom strategies are installed."""
    monkeypatch.setitem(sys.modules, __name__, sys.modules.get(__name__, inspect.getmodule(_point)))

    def install(*points):
        monkeypatch.setattr(evenkeel.engine.assignors, "entry_points", lambda group: points)
        evenkeel.engine.assignors._installed.cache_clear()

    yield install
    evenkeel.engine.assignors._installed.cache_clear()


SHARED = {"interface", "kit", "kafka", "flow", "promises"}
"""What lies beside the strategies for all of them."""


def test_the_table_lists_every_module_live_first():
    """Each strategy has a module of its own name, and none is left out of the table."""
    modules = {m.name for m in pkgutil.iter_modules(evenkeel.engine.assignors.__path__)}

    assert {name.replace("-", "_") for name in ASSIGNORS} == modules - SHARED
    assert next(iter(ASSIGNORS)) == "live"


@ours
def test_a_strategy_has_the_shape_of_one(name):
    """Its name is its key, and it says what it works on, needs and promises."""
    assignor = ASSIGNORS[name]

    assert isinstance(assignor, Assignor)
    assert assignor.name == name
    assert assignor.works_on <= {"partitions", "tasks"}
    assert assignor.needs <= {"racks", "lag", "user_data"}
    assert isinstance(assignor.deployment, Deployment)


@ours
def test_a_strategy_explains_itself(name):
    """Its module says promises, an example that runs, cost, source, and what it does not do."""
    text = inspect.getdoc(inspect.getmodule(type(ASSIGNORS[name])))

    for part in ("Promises", ">>>", "Cost:", "Source:", "What it does not do"):
        assert part in text


def test_an_unknown_name_lists_the_known_ones():
    """Who mistypes a strategy is told which there are."""
    with pytest.raises(InputError, match=r"'rang'.*live, range, roundrobin"):
        by_name("rang")


def test_custom_strategies_come_after_ours(install):
    """A registered class is found by name and stands last."""
    install(_point("everything", "Everything"))

    assert list(every()) == [*ASSIGNORS, "everything"]
    assert isinstance(by_name("everything"), Everything)


@pytest.mark.parametrize(
    ("name", "what", "why"),
    [
        ("lost", "Nothing", "Nothing"),
        ("incomplete", "Incomplete", "has no works_on, needs, deployment, source, assign"),
        ("other", "Everything", "is named 'everything', its entry point 'other'"),
        ("range", "Ours", "'range' is taken"),
        ("odd", "Odd", "'setting'"),
    ],
)
def test_a_broken_custom_strategy_is_reported_by_name(install, name, what, why):
    """One that cannot be loaded is named with the reason, and the others load."""
    install()
    found = custom([_point(name, what), _point("everything", "Everything")])

    assert list(found.assignors) == ["everything"]
    assert list(found.broken) == [name]
    assert why in found.broken[name]


def test_asking_for_a_broken_custom_strategy_says_why(install):
    """Its name is known, so the error is not that there is none."""
    install(_point("incomplete", "Incomplete"))

    with pytest.raises(InputError, match=r"'incomplete' cannot be loaded.*has no works_on"):
        by_name("incomplete")
    assert list(every()) == list(ASSIGNORS)


def test_two_custom_strategies_of_one_name_are_reported(install):
    """The second of a name does not replace the first."""
    install()
    found = custom([_point("everything", "Everything"), _point("everything", "Everything")])

    assert list(found.assignors) == ["everything"]
    assert "another" in found.broken["everything"]
