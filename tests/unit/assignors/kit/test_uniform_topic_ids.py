"""Topic ids as text, and what stands in for those that are not known."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import pytest

from evenkeel.engine.assignors.interface import spec
from evenkeel.engine.assignors.kafka.group_coordinator import topic_ids
from evenkeel.engine.assignors.kit.java_order import uuid_halves
from evenkeel.engine.model.errors import Infeasible


def _ids(*known, topics=("t", "u", "v")):
    names = topics[: len(known)]
    group = spec({}, dict.fromkeys(names, 1))
    return topic_ids(replace(group, topic_ids=known)).tolist()


@pytest.mark.parametrize(
    "text",
    [
        "bb0359bf-2d35-cb58-1698-1a439ca01ce0",
        "BB0359BF-2D35-CB58-1698-1A439CA01CE0",
        "uwNZvy01y1gWmBpDnKAc4A",
    ],
)
def test_an_id_is_read_in_both_forms(text):
    """Digits as clients write them, or 22 characters as Kafka's tools print them, are one id."""
    assert _ids(text) == [[0xBB0359BF2D35CB58 - (1 << 64), 0x16981A439CA01CE0]]


def test_a_stand_in_depends_on_the_name_alone():
    """The same name has the same stand-in in every group, another name another one."""
    alone, among = _ids(None, topics=("u",)), _ids(str(UUID(int=5)), None)

    assert among == [uuid_halves([UUID(int=5)]).tolist()[0], alone[0]]
    assert _ids(None, None)[0] != _ids(None, None)[1]


def test_any_name_has_a_stand_in():
    """Names that no encoding likes get one, too."""
    assert len(_ids(None, None, topics=("\ud800", "\U0001f600"))) == 2


@pytest.mark.parametrize("text", ["orders", "", "uwNZvy01y1gWmBpDnKAc", "\u00e9" * 22])
def test_what_is_no_id_is_named_with_its_topic(text):
    """A malformed id is not guessed at."""
    with pytest.raises(Infeasible, match=r"topic 't' has the id .*no topic id"):
        _ids(text)
