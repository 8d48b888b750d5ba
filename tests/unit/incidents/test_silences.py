"""For which groups nobody is woken, and why."""

from __future__ import annotations

from datetime import datetime

import pytest

from evenkeel.engine.config import MaintenanceWindow
from evenkeel.engine.incidents.silences import PLANNER, Quiet, quieting
from evenkeel.engine.model.states import Diagnosis, IncidentState
from evenkeel.engine.records import IncidentCourse, SilenceKind
from tests.helpers.silenced import HOUR, NOW, ack, silence


def planned(**given: str) -> MaintenanceWindow:
    """A window of two hours every Sunday at eleven."""
    known = {"weekly": "Sun 11:00", "for": "2h", "reason": "patches", "groups": "orders-?"}
    return MaintenanceWindow(**known | given)


def opened(at: datetime) -> IncidentCourse:
    """An incident of `orders-a` that was opened then."""
    return IncidentCourse(
        key="eu/orders-a/s",
        group_id="orders-a",
        state=IncidentState.OPEN,
        cause=Diagnosis.GROUP_NOT_COMMITTING,
        causes=(),
        began_at=NOW - 3 * HOUR,
        began_snapshot_id="s",
        good_snapshot_id=None,
        opened_at=at,
    )


@pytest.mark.parametrize(
    ("given", "group", "at", "holds"),
    [
        ({}, "orders-app", NOW, True),
        ({}, "Orders-app", NOW, False),
        ({}, "pay", NOW, False),
        ({"cluster": "eu-*"}, "orders-app", NOW, True),
        ({"cluster": "us"}, "orders-app", NOW, False),
        ({}, "orders-app", NOW - HOUR, True),
        ({}, "orders-app", NOW - 2 * HOUR, False),
        ({}, "orders-app", NOW + HOUR, False),
        ({"ended_at": NOW}, "orders-app", NOW, False),
        ({"ended_at": NOW + 2 * HOUR}, "orders-app", NOW + HOUR, False),
    ],
)
def test_a_silence_holds_for_what_it_covers_from_its_beginning_to_its_end(given, group, at, holds):
    """Case counts, the end does not belong to it, and who ends it early ends it."""
    found = quieting([silence(**given)], [], "eu-1", [])(group, at)
    assert (found is not None) is holds


def test_an_ack_means_what_was_open_when_it_was_made():
    """An incident that is opened later wakes people again; without one there is nothing to acknowledge."""
    times = (NOW - 2 * HOUR, NOW - HOUR, NOW)
    courses = [*([opened(at)] for at in times), []]
    quiet = [quieting([ack()], [], "eu", each)("orders-a", NOW) for each in courses]
    assert [found is not None for found in quiet] == [True, True, False, False]
    assert quiet[1] == Quiet(kind=SilenceKind.ACK, reason="moving", until=None, who="bo")


def test_of_several_the_one_that_lasts_longest_is_named_and_a_silence_before_an_ack():
    """An ack would let people hear what a silence keeps from them."""
    longer = silence(ends_at=NOW + 2 * HOUR, reason="longer")
    every = [silence(), longer, ack()]
    found = quieting(every, [], "eu", [opened(NOW - 2 * HOUR)])("orders-a", NOW)
    assert found is not None
    assert (found.kind, found.reason, found.until) == ("silence", "longer", NOW + 2 * HOUR)


def test_a_window_holds_while_it_is_configured_whatever_was_noted_of_it():
    """What the pipeline has stored of a window says nothing: it may be gone from the configuration."""
    found = quieting([], [planned()], "eu", [])("orders-a", NOW)
    assert found == Quiet(
        kind=SilenceKind.MAINTENANCE, reason="patches", until=NOW + HOUR, who=PLANNER
    )
    noted = silence(kind=SilenceKind.MAINTENANCE)
    assert quieting([noted], [], "eu", [])("orders-a", NOW) is None
    assert quieting([], [planned()], "eu", [])("orders-app", NOW) is None


def test_what_is_quiet_in_a_cluster_goes_by_what_was_open_in_it():
    """An ack counts for the group whose incident was open then, and for no other."""
    quiet = quieting([ack()], [], "eu", [opened(NOW - 2 * HOUR)])
    assert quiet("orders-a", NOW) is not None
    assert quiet("orders-b", NOW) is None
    assert quiet("orders-a", NOW - 2 * HOUR) is None
