"""What is worked out once per group, and what of it the same group keeps when its members report something else."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import fields, is_dataclass, replace
from importlib import import_module

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.engine.assignors import ASSIGNORS
from evenkeel.engine.assignors.interface import GroupSpec, as_read, fresh, once, rejoining, spec
from evenkeel.engine.model.arrays import NONE
from evenkeel.engine.model.errors import Infeasible
from tests.helpers.strategies import groups

GIVEN = {field.name for field in fields(GroupSpec)}

GROUP = spec(
    {"a": ["t"], "b": ["t"]},
    {"t": 2},
    racks={"a": "x", "b": "y"},
    replicas={"t": [["x"], ["y"]]},
    owned={"a": [("t", 0)], "b": [("t", 1)]},
)


@st.composite
def rejoined(draw):
    """A group, and the same one with other owners, which some members do not report."""
    group = draw(groups())
    anybody = st.integers(NONE, len(group.members) - 1)
    owner = [draw(anybody) for _ in range(group.partition_count)]
    silent = draw(st.none() | st.sets(st.sampled_from(group.members or ("nobody",))))
    return group, lambda known: fresh(rejoining(known, np.array(owner, np.int32)), silent)


def _answers(group):
    """What every strategy of ours answers, None where it cannot."""
    found = {}
    for name, strategy in ASSIGNORS.items():
        found[name] = None
        with suppress(Infeasible):
            found[name] = _plain(strategy.assign(group))
    return found


def _plain(value):
    """A value and all it consists of, so that two can be compared."""
    if isinstance(value, np.ndarray):
        return value.dtype, value.tolist()
    if is_dataclass(value):
        return [_plain(getattr(value, field.name)) for field in fields(value)]
    if isinstance(value, Infeasible):
        return str(value), value.why
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, tuple | list) else value


def _anew(group, name):
    """Something that a group keeps beside its fields, worked out for a group that knows nothing yet."""
    if "." not in name:
        return getattr(replace(group), name)
    module, _, function = name.rpartition(".")
    return getattr(import_module(module), function)(replace(group))


@given(rejoined())
def test_what_is_kept_when_members_report_something_else_is_what_they_would_get(drawn):
    """All that strategies worked out of a group is carried over as it is, and changes none of their answers."""
    group, again = drawn
    _answers(group)

    other = again(group)

    kept = {name: value for name, value in vars(other).items() if name not in GIVEN}
    known = vars(group).keys() - GIVEN
    assert known == kept.keys()
    for name, value in kept.items():
        assert value is vars(group)[name], name
        assert _plain(value) == _plain(_anew(other, name)), name
    assert _answers(other) == _answers(again(replace(group)))


def test_once_asks_once_however_often_members_report_something_else():
    """`fresh` and `rejoining` keep what is known; a group with other racks is another group."""
    asked = []

    @once
    def told(group):
        asked.append(group)
        return group.replica_rack.tolist()

    known = told(GROUP)
    for same in (GROUP, fresh(GROUP), fresh(GROUP, {"a"}), rejoining(GROUP, GROUP.owner[::-1])):
        assert told(same) is known
    assert asked == [GROUP]

    led = as_read(replace(GROUP, leader_rack=np.array([1, 0], np.int32), leaders_only=True))
    assert (told(led), len(asked)) == ([1, 0], 2)
