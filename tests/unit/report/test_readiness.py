"""The move to the consumer protocol in a report: groups in their order, as text, and only where it is known."""

from __future__ import annotations

from dataclasses import replace

from evenkeel.engine.model.states import Readiness
from evenkeel.engine.records import ReadinessRow
from evenkeel.engine.report import render
from evenkeel.engine.report.page import READINESS_SHOWN
from evenkeel.engine.report.values import ProtocolReadiness
from tests.unit.report.test_page import EVIL, Elements, filled, fleet


def row(name, readiness, place=None, **changed):
    """A group that is to move, under that name wherever somebody chose one."""
    known = {"why": (), "losses": (), "gains": (), "notes": (), "clients": (), "facts": ()}
    return filled(ReadinessRow, name, **known | {"readiness": readiness, "place": place} | changed)


def page_of(*rows):
    """The page of these groups."""
    readiness = ProtocolReadiness(groups=rows, brokers=("brokers move groups",))
    return render(replace(fleet(), readiness=readiness))


def test_groups_are_listed_in_their_order_and_those_without_a_move_counted():
    """With what they lose and gain; what is unknown or not there is a sign."""
    page = page_of(
        row("first", Readiness.READY, 1, gains=("pauses",), strategy_there="uniform"),
        row("next", Readiness.BLOCKED, members=None, why=("too old",), losses=("racks",)),
        row("gone", Readiness.MOVED),
        row("never", Readiness.NOT_APPLICABLE),
    )
    text = " ".join(Elements(page.replace("<t", " <t")).text.split())

    assert "1 group ready, 1 group blocked, 1 group moved, 1 group not applicable." in text
    assert "Brokers move groups." in text
    assert "1 first ready 1,234 first → uniform pauses" in text
    assert "- next blocked ? next → next too old racks" in text
    assert "never not applicable" not in text


def test_more_groups_than_the_page_has_room_for_are_counted():
    """The first ones are shown."""
    rows = [row(f"g{n}", Readiness.READY, n + 1) for n in range(READINESS_SHOWN + 3)]
    text = Elements(page_of(*rows)).text

    assert f"g{READINESS_SHOWN - 1}" in text
    assert f"g{READINESS_SHOWN}" not in text
    assert "and 3 more" in text


def test_names_add_no_element():
    """Groups, strategies and reasons are text, whatever they are called."""

    def elements(name):
        told = {"why": (name,), "losses": (name,), "gains": (name,), "notes": (name,)}
        return Elements(page_of(row(name, Readiness.READY, 1, **told))).elements

    assert [tag for tag, _ in elements(EVIL)] == [tag for tag, _ in elements("plain")]


def test_a_report_without_settings_of_brokers_has_no_such_section():
    """As one from the history, which keeps no members."""
    assert "consumer protocol" not in render(fleet())
