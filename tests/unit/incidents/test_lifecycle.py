"""When something wrong with a group is suspected, open, and over."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evenkeel.engine.config import IncidentRules
from evenkeel.engine.incidents.evaluation import Judged, Trouble
from evenkeel.engine.incidents.kinds import KINDS
from evenkeel.engine.incidents.lifecycle import step
from evenkeel.engine.incidents.measures import Occasion, lasting
from evenkeel.engine.model.facts import FactKind, fact
from evenkeel.engine.model.states import STANDING, Diagnosis, IncidentState
from evenkeel.engine.records import IncidentCourse

FIRST = datetime(2026, 3, 1, 8, tzinfo=UTC)
EVERY = timedelta(minutes=5)
RULES = IncidentRules()

SIGNS = {
    "N": Diagnosis.NO_MEMBERS,
    "L": Diagnosis.DATA_LOSS,
    "K": Diagnosis.OFFSETS_SKIPPED,
    "A": Diagnosis.DATA_LOSS_IMMINENT,
    "M": Diagnosis.MEMBER_NOT_COMMITTING,
    "B": Diagnosis.CATCHING_UP,
    "S": Diagnosis.SLOW_MEMBER,
    "H": Diagnosis.HOT_PARTITION,
    "R": Diagnosis.REBALANCING,
    "V": Diagnosis.GROUP_DELETED,
    "U": Diagnosis.UNKNOWN,
    "O": Diagnosis.STORE_IN_ONE_RACK,
}
"""Looks are written as letters: causes, `.` well, `~` recovering, `?` could not be judged."""


def judged(sign: str) -> Judged:
    """What a look says."""
    troubles = (Trouble(kind=SIGNS[sign]),) if sign in SIGNS else ()
    known, recovering = sign not in "?U", sign == "~"
    return Judged(
        group_id="g",
        diagnosis=Diagnosis.UNKNOWN,
        troubles=troubles,
        known=known,
        recovering=recovering,
    )


def look(number: int, every: timedelta = EVERY) -> Occasion:
    """A look of a cluster that has been looked at for long."""
    earlier = f"s{number - 1}" if number else None
    at = FIRST + number * every
    return Occasion(
        cluster="c", snapshot_id=f"s{number}", at=at, earlier=earlier, already=FIRST - EVERY
    )


def courses(
    looks: str, rules: IncidentRules = RULES, every: timedelta = EVERY
) -> list[IncidentCourse | None]:
    """What is remembered after each of some looks."""
    course, remembered = None, []
    for number, sign in enumerate(looks):
        course = step(course, judged(sign), look(number, every), rules)
        remembered.append(course)
    return remembered


def states(remembered: Sequence[IncidentCourse | None]) -> str:
    """Suspected, open, resolved, `.` nothing, or that something was."""
    return "".join(c.state.value[0] if c and c.causes else "." for c in remembered)


RISK = 3600 // 300
"""Looks until stores that would be lost with one rack are told."""


@pytest.mark.parametrize(
    ("looks", "expected"),
    [
        ("O" * (RISK + 2) + "...", "s" * RISK + "oo" + "or."),
        ("O" * RISK + "." + "OO", "s" * RISK + "." + "ss"),
        # what is wrong now is an incident as if there were no risk, and over as if there were none
        ("OOO" + "MM" + "OOO", "sss" + "so" + "ors"),
    ],
)
def test_a_risk_is_an_incident_of_its_own(looks, expected):
    """It has to last long, and neither opens nor holds open what is wrong with how the group fares."""
    assert states(courses(looks)) == expected


def test_a_risk_gives_way_to_what_is_wrong_now():
    """The incident that was told of it becomes that one once it has lasted by itself, and begins anew afterwards."""
    looks = "O" * (RISK + 1) + "SSSSS" + "OOOOO"
    told = courses(looks)

    kinds = [course.cause if course else None for course in told[RISK:]]
    assert kinds[:4] == [Diagnosis.STORE_IN_ONE_RACK] * 4
    assert kinds[4:6] == [Diagnosis.SLOW_MEMBER] * 2
    assert states(told)[-5:] == "orsss"
    assert told[-1].cause is Diagnosis.STORE_IN_ONE_RACK


@pytest.mark.parametrize(
    ("looks", "expected"),
    [
        (".N..", ".s.."),
        ("N.N.N", "s.s.s"),  # one good look is enough: it begins anew
        ("N.L", "s.o"),
        ("N.NN", "s.so"),
        ("NN..", "soor"),
        ("VV", "so"),
        ("L..", "oor"),
        ("K", "o"),
        ("AA", "so"),
        ("MM", "so"),
        ("BBBB", "ssso"),
        ("RRRR", "ssso"),
        ("SSS.SSSS", "sss.ssso"),  # well in between: it begins anew
        ("SS?SS", "sssoo"),  # what could not be judged neither opens nor ends anything
        ("SS~S", "ssso"),  # not well in between: it goes on
        ("S~~~", "ss.."),
        ("SSSS~~~~..", "sssooooo" + "or"),
        ("SSSS.S..", "sssooo" + "or"),  # one good look does not end it
        ("SSSS.??.", "sssooo" + "or"),
        ("SSSS????", "sssooooo"),
        ("BSBSB", "sssoo"),  # whichever it shows, it has been ill all the time
        ("UU..", "soor"),
        ("UUUU?", "soooo"),
        ("NN..NN", "soorso"),
    ],
)
def test_an_incident_opens_and_ends_when_that_has_lasted(looks, expected):
    """Looks five minutes apart: what one snapshot shows is not told, what lasts is, and so is its end."""
    assert states(courses(looks)) == expected


@pytest.mark.parametrize(
    ("cause", "opens"),
    [("N", 1), ("L", 0), ("A", 1), ("M", 15), ("B", 45), ("S", 45), ("R", 45), ("U", 1)],
)
def test_what_must_last_is_time_too(cause, opens):
    """With looks 20 seconds apart a slow member is told after a quarter of an hour, not after two looks."""
    every = timedelta(seconds=20)

    after = states(courses(cause * 50 + "." * 17, every=every))

    assert after.index("o") == opens
    assert after[50:] == "o" * 15 + "r."


def test_every_cause_has_its_patience():
    """A rule that is named is one, and longer for what is less severe."""
    patience = {cause: lasting(cause, RULES)[1] for cause in Diagnosis}
    critical = max(long for cause, long in patience.items() if cause.is_critical)

    assert critical <= patience[Diagnosis.MEMBER_NOT_COMMITTING] < patience[Diagnosis.SLOW_MEMBER]
    assert all(getattr(RULES, kind.lasts) > 0 for kind in KINDS.values() if kind.lasts)


WELL = (6, 8, 5, 8, 12)
"""Looks for which it is well between bouts: no rhythm."""


def test_what_comes_and_goes_is_over_when_it_stays_away():
    """About once an hour is told twice, however severe: what comes back must be gone for longer than the last time."""
    hourly = states(courses("".join("BBBBBB" + "." * well for well in WELL)))
    outages = states(courses("".join("NNNNNN" + "." * well for well in WELL)))

    for told in (hourly, outages):
        assert told.count("r") == 2
        assert told.rindex("r") == 57 + 9


def test_a_habit_ends_each_time():
    """What comes by the clock is known at the third time: it is over as if it never came back."""
    hourly = states(courses(("BBBBBB" + "." * 6) * 5))

    assert [n for n, state in enumerate(hourly) if state == "r"] == [7, 31, 43, 55]


def test_an_outage_is_open_for_no_longer_than_what_it_came_back_within():
    """After a return it is over two hours after it is well at the latest: whatever comes then is told anew."""
    after = states(courses("NN" + "." * 20 + "NN" + "." * 26 + "NN"))

    assert after.rindex("r") == 24 + 24
    assert after[-2:] == "so"


def test_what_settles_close_to_its_objective_is_over():
    """Within the objective and not within the hysteresis: for two hours, not for ever."""
    settled = courses("BBBB" + "~" * 25)
    unknown = courses("BBBB" + "~" * 20 + "?" + "~" * 20)

    assert states(settled) == "sss" + "o" * 25 + "r"
    assert (settled[-1].well_since, settled[-1].closed_at) == (None, look(4).at)
    assert "r" not in states(unknown)


@pytest.mark.parametrize(("well", "opened"), [((3,), 23), ((3, 5, 2, 5), 2)], ids=["habit", "none"])
def test_an_outage_that_is_not_told_again_is_open(well, opened):
    """Whenever nobody is there and nobody is told of it, an incident stands as open: its own each time, or one."""
    looks = "".join("N" * 9 + "." * well[n % len(well)] for n in range(24))
    after = courses(looks)

    first = [number for number, each in enumerate(after) if each.opened_at == look(number).at]
    missing = [each for each, sign in zip(after, looks, strict=True) if sign == "N"]
    assert first[:2] == [1, 9 + well[0] + 1]
    assert len(first) == opened
    assert [each.state for each in missing].count(IncidentState.SUSPECTED) == len(first)


def test_a_short_suspicion_does_not_make_forget_that_it_came_before():
    """What is remembered of an incident that is over outlasts what was seen once; for two hours, no longer."""
    again = courses("BBBB......" + "B....BBBB")[-1]
    later = courses("BBBB......" + "." * 20 + "BBBB")[-1]

    assert (again.over_at, later.over_at) == (look(4).at, None)
    assert again.good_snapshot_id == "s14"


def test_a_cause_only_gets_worse():
    """The incident is called by the worst that has lasted; what else there is stands beside it."""
    remembered = courses("SSSSNNSSSS")
    last = remembered[-1]

    assert [course.cause.value for course in remembered[3:]] == [
        *("slow member",) * 2,
        *("no members",) * 5,
    ]
    assert [span.cause for span in last.causes] == [Diagnosis.SLOW_MEMBER]
    assert last.causes[0].snapshots == 4


def test_that_it_is_behind_names_an_incident_only_alone() -> None:
    """A group that is behind because of something goes by that, also when it is found later."""
    behind = Trouble(kind=Diagnosis.CATCHING_UP)
    slow = Trouble(kind=Diagnosis.SLOW_MEMBER)
    course, causes = None, []
    for number in range(12):
        troubles = (behind, slow) if number >= 6 else (behind,)
        seen = Judged(group_id="g", diagnosis=Diagnosis.UNKNOWN, troubles=troubles)
        course = step(course, seen, look(number), RULES)
        causes.append(course and course.state is IncidentState.OPEN and course.cause)

    assert Diagnosis.CATCHING_UP in causes[:6]
    assert causes[-1] is Diagnosis.SLOW_MEMBER


def test_a_cause_that_did_not_last_is_not_what_the_incident_is_called_by():
    """Nobody is told of no members when a restart was seen once and a member is slow."""
    opened = courses("NSSSSS")[4]

    assert (opened.state, opened.cause) == (IncidentState.OPEN, Diagnosis.SLOW_MEMBER)


def test_an_incident_knows_when_it_began_and_when_all_was_well():
    """Its key stays, the snapshot before it is the last good one, and it ended with the first good look."""
    *_, opened, _, over = courses("..MM..")

    assert opened.key == over.key == "c/g/s2"
    assert (opened.good_snapshot_id, opened.began_snapshot_id) == ("s1", "s2")
    assert (opened.began_at, opened.opened_at) == (look(2).at, look(3).at)
    assert over.closed_at == look(4).at
    assert over.causes[0].cause is Diagnosis.MEMBER_NOT_COMMITTING


def test_what_a_snapshot_knows_of_the_past_counts():
    """A partition that has stood still for an hour needs no more time, only a second look."""
    stuck = Trouble(kind=Diagnosis.STUCK_PARTITION, since=FIRST - timedelta(hours=1))
    said = Judged(group_id="g", diagnosis=Diagnosis.STUCK_PARTITION, troubles=(stuck,))
    every = timedelta(seconds=20)

    suspected = step(None, said, look(0, every), RULES)
    opened = step(suspected, said, look(1, every), RULES)

    assert (suspected.state, opened.state) == (IncidentState.SUSPECTED, IncidentState.OPEN)
    assert opened.began_at == FIRST - timedelta(hours=1)


def shown(lag: float | None, behind: float | None, kind: Diagnosis) -> Judged:
    """What a snapshot with these numbers shows."""
    facts = (fact(FactKind.DIAGNOSIS, "total_lag", after=lag),)
    found = Trouble(kind=kind, facts=facts, amount=behind)
    return Judged(group_id="g", diagnosis=kind, troubles=(found,))


def test_an_incident_remembers_its_peaks() -> None:
    """The largest lag and time behind of its snapshots; what was never known is unknown at its end, too."""
    kind = Diagnosis.CATCHING_UP
    numbers = [(5.0, 60.0), (900.0, None), (None, 1500.0), (7.0, 30.0)]
    for known in (True, False):
        course = None
        for number, (lag, behind) in enumerate(numbers):
            seen = shown(lag, behind, kind) if known else shown(None, None, kind)
            course = step(course, seen, look(number), RULES)
        for number in range(4, 6):
            course = step(course, judged("."), look(number), RULES)
        assert course is not None
        assert course.state is IncidentState.RESOLVED
        peaks = (course.peak_lag, course.peak_behind_seconds)
        assert peaks == ((900.0, 1500.0) if known else (None, None))


def test_records_lost_are_no_seconds_behind() -> None:
    """Amounts of other units don't count."""
    course = step(None, shown(5.0, 1_600_000.0, Diagnosis.DATA_LOSS), look(0), RULES)
    assert course is not None
    assert (course.peak_lag, course.peak_behind_seconds) == (5.0, None)


@pytest.mark.parametrize("gone", ["V", "?"])
def test_nobody_waits_for_ever(gone):
    """A group that is gone for a day, or of which nothing is known for as long, is not expected back."""
    after = states(courses("NN" + gone * 300))

    assert after.index("r") == pytest.approx(289, abs=2)
    assert set(after[: after.index("r")]) == {"s", "o"}


def test_incidents_can_be_turned_off():
    """Nothing is suspected then, and what is open ends."""
    off = RULES.model_copy(update={"enabled": False})
    opened = courses("NN")[-1]

    assert states(courses("NNNN", off)) == "...."
    still = step(opened, judged("N"), look(2), off)
    assert step(still, judged("N"), look(3), off).state is IncidentState.RESOLVED


def test_what_was_so_on_the_first_look_is_marked():
    """Also if a later one finds it, when its facts reach back to then."""
    early = Occasion(cluster="c", snapshot_id="s", at=FIRST + EVERY, earlier=None, already=FIRST)
    old = Trouble(kind=Diagnosis.GROUP_NOT_COMMITTING, since=FIRST - EVERY)
    said = Judged(group_id="g", diagnosis=Diagnosis.MEMBER_NOT_COMMITTING, troubles=(old,))

    assert step(None, said, early, RULES).already_so
    assert not step(None, judged("N"), early, RULES).already_so


@example("BRBR", 450)
@given(st.text(alphabet="..~?" + "".join(SIGNS), max_size=40), st.integers(10, 900))
def test_nothing_opens_without_having_lasted(looks, seconds):
    """Whatever comes: what opens was seen as often and for as long as it must, and ends after as much of well."""
    every = timedelta(seconds=seconds)
    before = None
    for number, course in enumerate(courses(looks, every=every)):
        at = look(number, every).at
        if course and course.state is IncidentState.OPEN and course.opened_at == at:
            span = next(s for s in course.causes if s.cause is course.cause)
            times, duration = lasting(course.cause, RULES)
            assert span.snapshots >= times
            assert at - course.began_at >= duration
            assert (
                looks[: number + 1].count(next(k for k, c in SIGNS.items() if c is span.cause))
                >= times
            )
        if course and course.state is IncidentState.RESOLVED:
            assert before is not None
            assert before.state is IncidentState.OPEN
            # a risk is not wrong now, and nothing else waits for its end
            well = "." if course.cause in STANDING else ".O"
            assert looks[: number + 1].rstrip("?")[-1] in well or at - before.causes[
                0
            ].since >= timedelta(days=1)
        is_open = before is not None and before.state is IncidentState.OPEN
        is_ill = before is not None and before.causes and before.well_since is None
        if (
            before
            and course
            and not is_open
            and (before.cause in STANDING) is not (course.cause in STANDING)
        ):
            is_ill = False  # a risk and what is wrong now are suspected apart
        if before and course and (is_open or is_ill) and before.state is not IncidentState.RESOLVED:
            assert course.key == before.key
            worst = min(before.cause, course.cause, key=lambda cause: cause.precedence)
            assert before.state is IncidentState.SUSPECTED or course.cause is worst
        before = course


def gone(since: datetime) -> Judged:
    """A group that is missed since some moment, as snapshots that are looked back on tell."""
    trouble = Trouble(kind=Diagnosis.GROUP_DELETED, since=since)
    return Judged(group_id="g", diagnosis=Diagnosis.UNKNOWN, troubles=(trouble,))


@pytest.mark.parametrize("looks", [1, 2])
def test_what_was_given_up_is_not_missed_again(looks: int) -> None:
    """Though snapshots that are looked back on still have the group."""
    rules = IncidentRules(for_snapshots=looks, deleted_after_seconds=1800)
    course, remembered = None, []
    for number in range(30):
        course = step(course, gone(FIRST), look(number), rules)
        remembered.append(course)
    assert states(remembered) == "s" * (looks - 1) + "o" * (7 - looks) + "r" + "." * 23


def test_a_clock_that_was_ahead_holds_no_end_up() -> None:
    """Well since tomorrow is well since now."""
    course = courses("NN")[-1]
    for at in (FIRST + timedelta(days=1), *(FIRST + number * EVERY for number in (3, 4))):
        when = Occasion(
            cluster="c", snapshot_id=f"{at}", at=at, earlier=None, already=FIRST - EVERY
        )
        course = step(course, judged("."), when, RULES)
    assert course is not None
    assert course.state is IncidentState.RESOLVED
