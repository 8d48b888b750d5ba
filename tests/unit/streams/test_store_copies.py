"""Where the copies of stores stand, what would be lost with one rack, and what brings copies apart."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evenkeel.engine.config import StreamsSettings
from evenkeel.engine.model.facts import Fact
from evenkeel.engine.model.figures import Figures
from evenkeel.engine.streams.compare import outcomes, present, presumed
from evenkeel.engine.streams.live import Running, running
from evenkeel.engine.streams.separate_copies import about_copies
from evenkeel.engine.streams.settings import RackStrategy
from evenkeel.engine.streams.store_copies import copies_now, lost_with_one_rack, named
from tests.helpers.facts import said
from tests.helpers.streams_groups import Sub, Thread, live_group

STORE = "app-counts-changelog"
TOGETHER = [
    Thread(1, "0_0 0_1", "0_2 0_4", rack="a"),
    Thread(2, "0_2", "0_0 0_5", rack="a"),
    Thread(3, "0_3", "0_1", rack="b"),
    Thread(4, "0_4 0_5", "0_3", rack="b"),
]
"""Six stores with a copy each; of 0_0, 0_2 and 0_3 both stand in one rack."""

ONE = StreamsSettings(num_standby_replicas=1)


def app(threads=TOGETHER, settings=ONE, tasks=6, **more) -> Running:
    """An application whose tasks all have a store."""
    return running(live_group(threads, {"0": Sub(tasks, [STORE])}, **more), settings)


def told(threads=TOGETHER, settings=ONE, **more) -> tuple[Fact, ...]:
    """What is found of the copies that run now."""
    live = app(threads, settings, **more)
    replayed = outcomes(live)
    return tuple(about_copies(presumed(live, replayed), replayed))


def placed(tags=None, racks="aabb") -> list[Thread]:
    """The same clients in other racks (`?`: none is known), each with a tag of that name."""
    return [
        replace(
            one,
            rack=None if rack == "?" else rack,
            tags={} if tags is None else {tags: "abab"[n]},
        )
        for n, (one, rack) in enumerate(zip(TOGETHER, racks, strict=True))
    ]


TAGGED = StreamsSettings(num_standby_replicas=1, rack_aware_assignment_tags=("rack",))
ZONED = StreamsSettings(num_standby_replicas=1, rack_aware_assignment_tags=("zone",))


@pytest.mark.parametrize(
    ("threads", "settings", "together", "unknown"),
    [
        (TOGETHER, ONE, "0_0 0_2 0_3", ""),
        (TOGETHER, None, "0_0 0_2 0_3", ""),  # that each store has a copy is seen
        (TOGETHER, StreamsSettings(num_standby_replicas=0), "", ""),
        (placed(racks="abab"), ONE, "0_1 0_5", ""),
        (placed(racks="?abb"), ONE, "0_3", "0_0 0_1 0_2 0_4"),
        (placed(racks="????"), ONE, "", "0_0 0_1 0_2 0_3 0_4 0_5"),
        # a has clients one and three, b the other two; a rack goes before a tag
        (placed("zone", "????"), ZONED, "0_1 0_5", ""),
        (placed("zone", "aabb"), ZONED, "0_0 0_2 0_3", ""),
        (placed("zone", "?abb"), ZONED, "0_3", "0_0 0_1 0_2 0_4"),
        (placed("rack", "????"), TAGGED, "0_1 0_5", ""),
        (placed("rack", "?baa"), TAGGED, "0_1 0_3 0_4", ""),
    ],
)
def test_a_store_is_lost_with_the_one_place_of_all_its_copies(threads, settings, together, unknown):
    """Only where copies are kept and it is known where each stands; tags that count stand for racks that are not."""
    live = app(threads, settings)
    stores = present(live).stores

    assert sorted(named(live, stores.together)) == sorted(together.split())
    assert sorted(named(live, stores.unknown)) == sorted(unknown.split())
    assert not (stores.unknown & stores.judged).any()


def test_copies_are_counted_for_people_to_sum_up():
    """Of six stores three; nothing where no copies are kept, and no share of what is not known."""
    figures = {name: None for name in Figures.__dataclass_fields__}
    blank = Figures(**figures)

    def counted(live):
        scored = present(live).stores.scored(blank)
        return scored.stores_in_one_rack, scored.stores_judged

    assert counted(app()) == (3, 6)
    assert counted(app(settings=StreamsSettings(num_standby_replicas=0))) == (None, None)
    assert counted(app(placed(racks="????"))) == (None, 0)


def test_a_copy_too_few_and_a_copy_beside_the_task_are_found():
    """A store without a copy is named; one beside its own active task is no help, which Kafka never does."""
    threads = [Thread(1, "0_0 0_1", "0_1", rack="a"), Thread(2, rack="b")]

    found = said(told(threads, tasks=2))

    assert found[:3] == (
        "1 store (0_1) has a copy on the client that runs the task",
        "1 store (0_0) has no copy, though num.standby.replicas is 1",
        "1 of 1 store (0_1) has all copies in one rack, and would be lost with it",
    )


def test_what_is_not_known_is_said():
    """Stores with a copy on a client whose rack nobody tells are named, and not counted."""
    (unknown,) = told(placed(racks="?aba"))[:1]

    assert said([unknown])[0].startswith(
        "not known if 4 stores (0_0, 0_1, 0_2 and 1 more) would be lost"
    )


CONFIGURED = StreamsSettings(
    num_standby_replicas=1,
    rack_aware_assignment_strategy=RackStrategy.NONE,
    rack_aware_assignment_tags=("rack",),
)
STICKY = StreamsSettings(num_standby_replicas=1, task_assignor="sticky")
RACKS = [replace(one, tags={"rack": one.rack}) for one in TOGETHER]
UNEVEN = [
    replace(one, tags={"zone": zone}, rack=rack)
    for one, zone, rack in zip(TOGETHER, "xyxx", "aabb", strict=True)
]
UNEVEN += [Thread(2, rack="a", tags={"zone": "y"})] * 5


@pytest.mark.parametrize(
    ("threads", "settings", "kip_1071", "words"),
    [
        (
            TOGETHER,
            ONE,
            False,
            "with rack.aware.assignment.tags=rack and client.tag.rack on each instance",
        ),
        (
            RACKS,
            CONFIGURED,
            False,
            "with its present configuration, the next rebalance leaves no store in",
        ),
        # nobody in rack b is in zone y: both tags cannot be kept, and the idlest client gets the copy
        (UNEVEN, ZONED, False, "with rack.aware.assignment.tags=rack and client.tag.rack on"),
        (placed("zone", "????"), ZONED, False, "tags=zone and client.tag.zone on each instance"),
        (TOGETHER, ONE, True, "with streams.num.standby.replicas=2"),
        (placed(racks="aaaa"), ONE, False, "all clients are in one rack: copies are apart once"),
        (placed(racks="aaab"), ONE, True, "no setting that was replayed ("),
    ],
)
def test_the_cure_is_what_a_replay_leaves_no_store_in_one_rack_with(
    threads, settings, kip_1071, words
):
    """What it is set to do, tags, a copy more; nothing is promised that a replay does not show."""
    *_, lost, cure = told(threads, settings, kip_1071=kip_1071)

    assert lost.measure == "stores_lost_with_one_rack"
    assert words in said([cure])[0]


def test_an_incident_needs_clients_in_several_racks():
    """Copies of an application in one rack cannot be apart: it is no trouble, though it is found."""

    def lost(threads, settings=ONE, **more):
        group = live_group(threads, {"0": Sub(6, [STORE])}, **more)
        found = lost_with_one_rack(group, settings)
        return found and (found.measure, found.after, found.bound, found.subjects)

    assert lost(TOGETHER) == ("store_in_one_rack", 3, 6, ("0_0", "0_2", "0_3"))
    assert lost(placed(racks="aaaa")) is None
    assert lost(placed(racks="a?aa")) is None
    assert lost(TOGETHER, StreamsSettings(num_standby_replicas=0)) is None
    assert lost(TOGETHER, columns={"state": "PreparingRebalance"}) is None
    assert lost([replace(one, client=None) for one in TOGETHER]) is None


def test_what_runs_is_judged_as_what_would_run():
    """A strategy's plan goes through the same function as the copies of now."""
    live = app()
    (none, *_), (_, now) = (
        outcomes(live),
        copies_now(live_group(TOGETHER, {"0": Sub(6, [STORE])}), ONE),
    )

    assert named(live, now.together) == named(live, present(live).stores.together)
    assert (int(none.stores.together.sum()), int(none.stores.judged.sum())) == (0, 6)
