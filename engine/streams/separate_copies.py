"""
What is remarkable of where copies of stores stand now, and which setting would bring them apart, by replay.

Asked in this order, and the first that leaves no store in one rack is told: what the application is configured to run,
as it is; racks as tags (`rack.aware.assignment.tags=rack` with `client.tag.rack`, KIP-708), beside those that count and
alone; another strategy of its scoreboard (KIP-925); one copy more of each store. Tags come before strategies: with them
copies are apart by intent, with a strategy because data happens to lie so. The sticky assignor looks at no tag. A
KIP-1071 broker knows neither tags nor strategies: there only copies help.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ..model.errors import Infeasible
from ..model.facts import Fact, finding
from .compare import PlacementOutcome, outcome, present
from .live import Running
from .standbys import RACK
from .store_copies import in_several_places, known_racks, named


def about_copies(application: Running, replayed: Iterable[PlacementOutcome]) -> Iterator[Fact]:
    """
    Findings about the copies that run now, with the cure behind those that one rack has all of.

    Args:
        application: It, its strategy presumed.
        replayed: What its strategies would lead to.
    """
    stores = present(application).stores
    if stores.doubled.any():
        yield finding("copies_on_own_client", named(application, stores.doubled))
    if stores.short.any():
        wanted = application.config.num_standby_replicas
        yield finding("stores_without_copy", named(application, stores.short), after=wanted)
    if stores.unknown.any():
        yield finding("store_racks_unknown", named(application, stores.unknown))
    if stores.together.any():
        names, judged = named(application, stores.together), int(stores.judged.sum())
        yield finding("stores_lost_with_one_rack", names, after=len(names), bound=judged)
        yield cure(application, replayed)


def cure(application: Running, replayed: Iterable[PlacementOutcome]) -> Fact:
    """What would leave no store in one rack; that nothing tried does, where nothing does."""
    if not in_several_places(application):
        return finding("clients_in_one_rack")
    every = {one.strategy: one for one in replayed}
    if _is_told(application) and are_apart(every.get(application.runs)):
        return finding("apart_as_configured")
    for other in () if application.kip_1071 else tagged(application):
        if are_apart(_asked(other)):
            return finding("apart_by_tags", other.config.tags)
    for strategy, one in every.items():
        can_be_set = not application.kip_1071 and strategy is not application.runs
        if can_be_set and strategy is not None and are_apart(one):
            return finding("apart_by_strategy", [strategy.value])
    more = one_copy_more(application)
    if are_apart(_asked(more)):
        name, after = "num.standby.replicas", more.config.num_standby_replicas
        return finding(
            "apart_by_copies", [f"streams.{name}" if application.kip_1071 else name], after=after
        )
    return finding("apart_by_nothing")


def _is_told(application: Running) -> bool:
    """Whether strategy and tags are known, not taken: then what it runs can be held to them."""
    taken = {remark.measure for remark in application.remarks}
    return not taken & {"strategy_taken_as_seen", "strategy_taken_by_default", "tags_taken"}


def tagged(application: Running) -> Iterator[Running]:
    """The application with racks among the tags that count, then as the only one; with its tags where racks lack."""
    app, config, racks = application.app, application.config, known_racks(application)
    if not all(racks):
        if config.tags:
            yield application
        return
    tags = tuple({**one, RACK: rack or ""} for one, rack in zip(app.tags, racks, strict=True))
    for keys in dict.fromkeys([tuple(dict.fromkeys((RACK, *config.tags))), (RACK,)]):
        counted = replace(config, tags=keys)
        yield replace(application, app=replace(app, tags=tags), config=counted)


def one_copy_more(application: Running) -> Running:
    """The application with one more copy of each store."""
    more = application.config.num_standby_replicas + 1
    return replace(application, config=replace(application.config, num_standby_replicas=more))


def _asked(application: Running) -> PlacementOutcome | None:
    """What the strategy that it runs would lead to; None where it has no answer."""
    try:
        return None if application.runs is None else outcome(application, application.runs)
    except Infeasible:
        return None


def are_apart(one: PlacementOutcome | None) -> bool:
    """Whether the copies of all stores are known to stand in several racks."""
    return (
        one is not None
        and bool((one.stores.judged & ~one.stores.together).any())
        and not (one.stores.together | one.stores.unknown).any()
    )
