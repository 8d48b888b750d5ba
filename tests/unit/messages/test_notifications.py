"""What is told of the incidents of groups, from snapshot to snapshot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.engine.config import ClusterSettings, RefusedCluster, Rule, Settings, Webhook
from evenkeel.engine.incidents.evaluation import Judged, Judgment, Trouble
from evenkeel.engine.incidents.silences import Quiet
from evenkeel.engine.messages import notifications
from evenkeel.engine.messages.events import EventKind
from evenkeel.engine.messages.incident_message import kafka_options, message_of
from evenkeel.engine.messages.length import plain_text
from evenkeel.engine.messages.notifications import ToldRound, round_of
from evenkeel.engine.model.facts import FactKind, fact
from evenkeel.engine.model.message import MessageKind, Severity
from evenkeel.engine.model.states import Diagnosis, IncidentState
from evenkeel.engine.ports import IncidentWatch, Posting
from evenkeel.engine.records import SilenceKind
from tests.helpers.group_incidents import FACTS

FIRST = datetime(2026, 3, 1, 8, tzinfo=UTC)
EVERY = timedelta(minutes=5)
NOBODY, SILENT, BEHIND = (
    Diagnosis.NO_MEMBERS,
    Diagnosis.MEMBER_NOT_COMMITTING,
    Diagnosis.CATCHING_UP,
)


Wrong = Diagnosis | Trouble | tuple[Trouble, ...] | None


def trouble(kind: Diagnosis, amount: float | None = None) -> Trouble:
    """Something wrong, so bad."""
    return Trouble(kind=kind, amount=amount)


def quiet(kind: SilenceKind = SilenceKind.SILENCE) -> Quiet:
    """Somebody wants less to be said."""
    return Quiet(kind=kind, reason="rolling back", until=None, who="Ada")


@dataclass
class Watcher:
    """Looks at a cluster again and again, as the pipeline does."""

    settings: Settings = field(default_factory=Settings)
    groups: tuple[str, ...] = tuple(f"g{n:03}" for n in range(100))
    quiets: dict[str, Quiet] = field(default_factory=dict)
    watch: IncidentWatch = field(default_factory=lambda: IncidentWatch(cluster="c"))
    number: int = 0
    asked: list[str] = field(default_factory=list)

    @property
    def watched(self) -> list[str]:
        """The groups with which something is wrong, or may be."""
        return [
            course.group_id
            for course in self.watch.courses
            if course.state is not IncidentState.RESOLVED and course.causes
        ]

    def look(self, odd: Mapping[str, Wrong]) -> ToldRound:
        """The next look: what is wrong with which group; None: it could not be judged."""
        at = FIRST + self.number * EVERY
        earlier = self.watch.snapshot_id
        judgment = Judgment(
            cluster="c",
            snapshot_id=f"s{self.number}",
            at=at,
            earlier=earlier,
            listed=self.groups,
            odd={group: _judged(group, wrong) for group, wrong in odd.items()},
        )
        done = round_of(
            self.watch,
            judgment,
            self.settings,
            quiet=lambda group, _: self.quiets.get(group),
            changed=lambda course: self.asked.append(course.group_id),
            link="http://run",
        )
        self.watch = IncidentWatch(
            cluster="c",
            snapshot_id=judgment.snapshot_id,
            at=at,
            first_at=self.watch.first_at or at,
            courses=done.courses,
        )
        self.number += 1
        return done

    def looks(self, *each: Mapping[str, Wrong]) -> list[Posting]:
        """What several looks post."""
        return [posting for odd in each for posting in self.look(odd).postings]


def _judged(group: str, wrong: Wrong) -> Judged:
    if wrong is None:
        return Judged(group_id=group, diagnosis=Diagnosis.UNKNOWN, known=False)
    if isinstance(wrong, tuple):
        return Judged(group_id=group, diagnosis=Diagnosis.UNKNOWN, troubles=wrong)
    one = wrong if isinstance(wrong, Trouble) else trouble(wrong)
    return Judged(group_id=group, diagnosis=Diagnosis.UNKNOWN, troubles=(one,))


def settled(**other: object) -> Watcher:
    """Somebody who has looked twice and found nothing."""
    watcher = Watcher(**other)
    assert watcher.looks({}, {}) == []
    return watcher


def keys(postings: list[Posting]) -> list[str]:
    """Their keys."""
    return [posting.key for posting in postings]


def test_an_incident_is_opened_changed_and_resolved_in_one_place():
    """One message with a line in its thread each time; who is called is so until it is over, and not on day one."""
    rules = (Rule(groups="g001", owner="payments", mention="S012ABCDEF"),)
    watcher = settled(settings=Settings(rules=rules))
    worse, two = {"g001": SILENT}, {"g001": NOBODY, "g002": SILENT}

    postings = watcher.looks(worse, worse, worse, {"g001": NOBODY}, {"g001": NOBODY}, {}, {}, {})
    first = Watcher(settings=Settings(rules=rules)).looks(two, two, two)

    incident = "incident c/g001/s2"
    assert [
        (one.key, one.answers, one.replaces, one.broadcast, one.message.mention) for one in postings
    ] == [
        (f"{incident} opened", None, None, False, "S012ABCDEF"),
        (f"{incident} worse 1", None, f"{incident} opened", False, "S012ABCDEF"),
        (f"{incident} worse 1 thread", f"{incident} opened", None, True, "S012ABCDEF"),
        (f"{incident} resolved", None, f"{incident} opened", False, None),
        (f"{incident} resolved thread", f"{incident} opened", None, True, None),
    ]
    assert {one.channel for one in postings} == {"#kafka"}
    assert [one.message.kind for one in postings] == [
        MessageKind.INCIDENT_OPENED,
        *(MessageKind.INCIDENT_WORSE,) * 2,
        *(MessageKind.INCIDENT_CLOSED,) * 2,
    ]
    assert {(one.message.subject.owner, one.message.link) for one in postings} == {
        ("payments", "http://run")
    }
    assert [posting.message.mention for posting in first] == [None]
    assert watcher.watched == []


def test_what_changed_is_asked_of_groups_only_that_are_told():
    """It costs reading a snapshot; what is suspected only, and what is over, needs none."""
    watcher = settled()

    watcher.looks({"g001": NOBODY, "g002": SILENT}, {"g001": NOBODY}, {}, {})

    assert watcher.asked == ["g001"]


def late(*minutes: float, kind: Diagnosis = BEHIND, **facts: float) -> list[tuple[Trouble, ...]]:
    """Looks at a group that is so many minutes behind, with some facts about it."""
    known = tuple(
        fact(FactKind.DIAGNOSIS, name, ["t-0"], after=each) for name, each in facts.items()
    )
    return [(Trouble(kind=kind, amount=60 * each, facts=known),) for each in minutes]


SLOW, LOST, SOON = Diagnosis.SLOW_MEMBER, Diagnosis.DATA_LOSS, Diagnosis.DATA_LOSS_IMMINENT
OPEN = late(5, 6, 7, 8)
"""Opens with the last look; it falls behind by a minute per look."""


@pytest.mark.parametrize(
    ("looks", "expected"),
    [
        (late(*range(9, 90)), {}),
        (late(*range(9, 200)), {100: "still"}),
        # four minutes per look: 28 are more than twice 13; then the new line holds
        (late(*range(12, 200, 4)), {9: "worse"}),
        (late(*range(9, 12), *(4,) * 100, *range(4, 20)), {100: "still", 113: "worse"}),
        ([*late(9), *late(*range(10, 30), kind=SLOW)], {7: "worse"}),
        ([*late(9), *late(10, 11, 12, kind=SLOW), *late(13, 14, 15), *late(16, kind=SLOW)], {7: "worse"}),
        (late(*range(9, 30), retention_used=0.6), {5: "worse"}),
        (
            [
                *late(9),
                *late(*range(10, 20), kind=SOON, data_loss_imminent=2000),
                *late(*range(20, 25), kind=SOON, data_loss_imminent=800, retention_used=0.9),
            ],
            {7: "worse", 16: "worse"},
        ),
        ([*late(9), *late(*range(10, 40), kind=LOST)], {6: "worse"}),
        # neither well nor to be seen
        ([None] * 120, {}),
    ],
    ids=["straight", "a shift", "steeper", "back", "reason", "known reason", "half", "at hand", "lost", "unseen"],
)  # fmt: skip
def test_what_is_told_of_an_open_incident_is_new(looks, expected) -> None:
    """A more severe cause, a loss, half of retention, 15 minutes to a loss, twice the line: else a line per shift."""
    watcher = settled()
    told = {
        number: event.kind.value
        for number, wrong in enumerate([*OPEN, *looks], start=2)
        for event in watcher.look({"g": wrong}).events
    }
    assert told == {5: "opened", **{number + 1: kind for number, kind in expected.items()}}


def test_a_line_per_shift_is_in_the_thread_only():
    """The message is set right, its line does not go to the channel, and no pager hears of it."""
    pager = Webhook(format="pagerduty", severity="warning")
    rules = (Rule(groups="g", incidents={"shift_seconds": 3600}),)
    watcher = settled(settings=Settings(webhooks={"oncall": pager}, rules=rules))

    postings = watcher.looks(*({"g": wrong} for wrong in late(*range(5, 100, 5), kind=SILENT)))

    assert [key.split()[2:] for key in keys(postings)] == [
        ["opened"],
        ["opened", "webhook:oncall"],
        ["still", "1"],
        ["still", "1", "thread"],
    ]
    assert not any(one.broadcast for one in postings)
    assert "Now 1 h 10 min behind, 1 h ago 10 min behind" in plain_text(postings[-1].message)


def test_what_is_still_open_of_a_digest_is_one_line_per_shift():
    """In its thread, however many they are; what got worse of it is told as that, and by itself."""
    watcher = Watcher()
    wrong = {"g001": SILENT, "g002": SILENT, "g003": SILENT}

    postings = watcher.looks(*(wrong,) * 97, wrong | {"g003": NOBODY}, wrong | {"g003": NOBODY})

    assert [(one.key, one.answers) for one in postings] == [
        ("digest s1 #kafka first", None),
        ("digest s97 digest s1 #kafka first still", "digest s1 #kafka first"),
        ("incident c/g003/s0 opened", None),
    ]
    assert postings[1].message.title == "c: 3 groups still unhealthy"
    assert postings[2].message.kind is MessageKind.INCIDENT_WORSE
    assert "\nWorse: It was member not committing, no active" in plain_text(postings[2].message)


def test_day_one_is_a_digest():
    """What is wrong on the first looks was so already; one message says it once it would open."""
    watcher = Watcher()
    wrong = {"g001": NOBODY, "g002": NOBODY}

    notifications = [watcher.look(wrong) for _ in range(3)]

    assert keys([p for one in notifications for p in one.postings]) == ["digest s1 #kafka first"]
    event = notifications[1].events[0]
    assert (event.kind, event.groups) == (EventKind.DIGEST, ("g001", "g002"))


def test_what_needs_more_snapshots_on_day_one_is_no_second_digest_of_the_first_look() -> None:
    """It is told like any incident: a few one by one, more than a few together."""
    later = dict.fromkeys([f"g{n:03}" for n in range(10, 20)], BEHIND)

    def day(*names: str) -> list[str]:
        wrong = {"g001": NOBODY, "g002": NOBODY} | {name: later[name] for name in names}
        return keys(Watcher().looks(*(wrong,) * 6))

    assert day("g010", "g011") == [
        "digest s1 #kafka first",
        *(f"incident c/g{n:03}/s0 opened" for n in (10, 11)),
    ]
    assert day(*later)[:2] == ["digest s1 #kafka first", "digest s3 #kafka opened"]


@pytest.mark.parametrize(
    ("opened", "then"),
    [
        (NOBODY, trouble(BEHIND, 2400)),
        (Diagnosis.DATA_LOSS, Diagnosis.OFFSETS_SKIPPED),
        (NOBODY, None),
    ],
    ids=["the worst has ended", "what was lost is skipped", "it could not be judged"],
)
def test_what_is_neither_worse_nor_over_is_not_told(opened: Wrong, then: Wrong) -> None:
    """It goes on, and its end says all of it: in its message and in the thread."""
    watcher = settled()
    watcher.looks({"g001": opened}, {"g001": opened})

    assert watcher.looks(*({"g001": then},) * 6) == []
    assert watcher.watch.courses[0].state is IncidentState.OPEN
    assert len(watcher.looks({}, {}, {})) == 2


def test_what_a_digest_told_gets_its_own_message_when_it_is_worse_and_a_line_when_it_is_over():
    """A digest stands for many groups and is not changed."""
    watcher = Watcher()
    watcher.looks({"g001": SILENT, "g002": NOBODY}, {"g001": SILENT, "g002": NOBODY})

    postings = watcher.looks({"g001": NOBODY}, {"g001": NOBODY}, {}, {})

    assert [(one.key, one.answers, one.broadcast) for one in postings] == [
        ("incident c/g001/s0 opened", None, False),
        ("incident c/g002/s0 resolved thread", "digest s1 #kafka first", False),
        ("incident c/g001/s0 resolved", None, False),
        ("incident c/g001/s0 resolved thread", "incident c/g001/s0 opened", True),
    ]


def test_a_flood_is_a_digest_and_so_is_its_end():
    """More than five at once are one message in their channel; the few of another channel stay single ones."""
    rule = Rule(groups="g00*", channel="#few")
    watcher = settled(settings=Settings(rules=(rule,)))
    wrong = dict.fromkeys([f"g{n:03}" for n in range(5, 20)], NOBODY)

    opened = watcher.looks(wrong, wrong)
    over = watcher.looks({}, {})

    assert sorted(keys(opened)) == [
        "digest s3 #kafka opened",
        "digest s3 #kafka opened thread",
        *(f"incident c/g{n:03}/s2 opened" for n in range(5, 10)),
    ]
    assert "digest s5 #kafka resolved" in keys(over)
    assert sum("resolved thread" in key for key in keys(over)) == 1 + 5
    assert watcher.watched == []


def test_who_is_not_named_in_a_digest_has_not_been_told():
    """A digest names as many as fit; the others come with the next snapshot, and so do those that are over."""
    watcher = settled(groups=tuple(f"g{number:03}-{'long' * 19}" for number in range(250)))
    wrong = dict.fromkeys(watcher.groups, NOBODY)
    watcher.look(wrong)

    opened = [watcher.look(wrong) for _ in range(4)]
    over = [watcher.look({}) for _ in range(6)]

    for each in (opened, over):
        groups = [group for one in each for event in one.events for group in event.groups]
        assert sorted(groups) == sorted(watcher.groups)
        assert len([one for one in each if one.events]) == 3
        assert {event.kind for one in each for event in one.events} == {EventKind.DIGEST}
    assert watcher.watched == []


def test_of_a_silenced_group_nothing_is_told_until_that_ends():
    """What is over by then is never told."""
    watcher = settled(quiets={"g001": quiet(), "g002": quiet()})
    both = {"g001": NOBODY, "g002": NOBODY}

    assert watcher.looks(both, both, {"g001": NOBODY}, {"g001": NOBODY}) == []
    watcher.quiets.clear()
    assert keys(watcher.looks({"g001": NOBODY})) == ["incident c/g001/s2 opened"]


def test_the_end_of_what_was_told_is_told_in_a_silence_too():
    """Without disturbing the channel: the message is set right, and its thread."""
    watcher = settled()
    watcher.looks({"g001": NOBODY}, {"g001": NOBODY})
    watcher.quiets["g001"] = quiet()

    postings = watcher.looks({}, {})

    assert [one.key.split()[2:] for one in postings] == [["resolved"], ["resolved", "thread"]]
    assert not any(one.broadcast for one in postings)


def test_an_acknowledged_incident_is_told_again_only_when_it_is_more_severe():
    """Somebody works on it; twice as bad is no news to them, no members are."""
    watcher = settled()
    watcher.looks({"g": trouble(SILENT, 10)}, {"g": trouble(SILENT, 10)})
    watcher.quiets["g"] = quiet(SilenceKind.ACK)

    assert watcher.looks(*({"g": trouble(SILENT, 100)},) * 10) == []
    worse = watcher.looks({"g": NOBODY}, {"g": NOBODY})

    assert [one.broadcast for one in worse] == [False, True]


def test_pagers_get_each_incident_by_itself():
    """Opened, worse and over, also of a flood; those that take only what is critical hear of nothing else."""
    pager = Webhook(format="pagerduty", groups=("g0*",))
    watcher = settled(settings=Settings(webhooks={"oncall": pager}))
    wrong = dict.fromkeys([f"g{n:03}" for n in range(10)], NOBODY)

    critical = watcher.looks(wrong, wrong, {}, {})
    warning = watcher.looks({"g050": SILENT}, {"g050": SILENT}, {"g050": SILENT})

    paged = [one for one in critical if one.channel == "webhook:oncall"]
    assert len(paged) == 20
    assert {one.message.severity for one in paged} == {Severity.CRITICAL, Severity.RESOLVED}
    assert [one.channel for one in warning] == ["#kafka"]


def test_a_pager_that_knows_a_flood_hears_what_becomes_worse_of_it():
    """What people read in a digest first is a message of its own then, to a pager it is the same incident."""
    pager = Webhook(format="pagerduty", severity="warning")
    watcher = settled(settings=Settings(digest_threshold=1, webhooks={"oncall": pager}))
    wrong = dict.fromkeys(["g001", "g002"], SILENT)

    postings = watcher.looks(wrong, wrong, wrong, *(wrong | {"g001": NOBODY},) * 2)

    assert [one.key for one in postings if one.channel == "webhook:oncall"] == [
        "incident c/g001/s2 opened webhook:oncall",
        "incident c/g002/s2 opened webhook:oncall",
        "incident c/g001/s2 reported alone webhook:oncall",
    ]


def test_a_pager_hears_in_a_second_flood_what_became_worse():
    """The same incidents in two digests are two pages each, the second more severe."""
    pager = Webhook(format="pagerduty", severity="warning")
    watcher = settled(settings=Settings(digest_threshold=1, webhooks={"oncall": pager}))
    silent = dict.fromkeys(["g001", "g002"], SILENT)
    stopped = dict.fromkeys(silent, NOBODY)

    postings = watcher.looks(silent, silent, silent, stopped, stopped)
    pages = [one for one in postings if one.channel == "webhook:oncall"]

    assert [one.message.severity.value for one in pages] == [*["warning"] * 2, *["critical"] * 2]
    assert len({one.key for one in pages}) == 4


def test_records_lost_beside_something_worse_are_told():
    """Offsets set to the end while nobody is there are news in the thread, and named at the end."""
    watcher = settled()
    nobody, skipped = Trouble(kind=NOBODY), Trouble(kind=Diagnosis.OFFSETS_SKIPPED, amount=1.6e6)
    watcher.looks({"g001": NOBODY}, {"g001": NOBODY})

    (change, line) = watcher.look({"g001": (nobody, skipped)}).postings
    again = watcher.looks({"g001": (nobody, skipped)})
    ends = watcher.looks({}, {}, {}, {})

    assert "ffsets skipped" in line.message.summary
    assert not line.broadcast
    assert change.replaces == "incident c/g001/s2 opened"
    assert again == []
    assert "no active members and offsets skipped" in ends[-1].message.title


@pytest.mark.parametrize("count", [1, 9])
def test_what_cannot_be_worded_is_told_all_the_same(count: int) -> None:
    """A fact without the number that its clause needs: the message says what is wrong and since when."""
    watcher = settled()
    wrong: dict[str, Wrong] = dict.fromkeys(watcher.groups[:count], NOBODY)
    unsaid = fact(FactKind.DIAGNOSIS, "member_not_committing", ["a", "b"])
    wrong["g000"] = Trouble(kind=SILENT, facts=(unsaid,))

    done = [watcher.look(wrong) for _ in range(2)][-1]

    assert {group for event in done.events for group in event.groups} == {*wrong}
    texts = [plain_text(posting.message) for posting in done.postings]
    assert any("g000: member not committing" in text for text in texts) is (count > 1)
    assert any("member not committing" in text for text in texts)


def test_a_message_that_cannot_be_made_costs_other_groups_nothing(monkeypatch):
    """Of that group nothing is said, and it is tried again with the next snapshot."""
    broken = ["g001"]

    def opened(incident, kind):
        if incident.course.group_id in broken:
            raise ValueError("a fact without its value")
        return message_of(incident, kind)

    monkeypatch.setattr(notifications, "message_of", opened)
    watcher = settled()
    wrong = dict.fromkeys(["g001", "g002"], NOBODY)

    first = keys(watcher.looks(wrong, wrong))
    broken.clear()

    assert first == ["incident c/g002/s2 opened"]
    assert keys(watcher.looks(wrong)) == ["incident c/g001/s2 opened"]


def bouts(*each: tuple[int, int], amount: float = 60.0) -> list[tuple[int, str]]:
    """Looks at a group that has nobody for so many looks and is well for so many, and what is told with each."""
    watcher, told, number = settled(), [], 0
    for ill, well in each:
        for look in range(ill + well):
            factor = 3 if number > 900 else 1
            odd = {"g001": trouble(NOBODY, factor * amount * (look + 1))} if look < ill else {}
            told += [(number, event.kind.value) for event in watcher.look(odd).events]
            number += 1
    return told


RARELY = [(1, "opened"), (10, "resolved"), (100, "opened"), (109, "resolved"), (129, "opened")]
HOURLY = [(1, "opened"), (10, "resolved"), (13, "opened"), (25, "habit"), (34, "resolved")]
DAILY = [(1, "opened"), (10, "resolved"), (289, "opened"), (298, "resolved"), (577, "habit")]


@pytest.mark.parametrize(
    ("each", "expected"),
    [
        ([(9, 3)] * 24, HOURLY),
        # longer than ever
        ([(9, 3)] * 9 + [(16, 8)], [*HOURLY, (108 + 13, "opened"), (108 + 17, "resolved")]),
        ([(9, 279)] * 6, [*DAILY, (1156, "opened"), (1162, "resolved")]),
        ([(9, 90), (9, 20), (9, 100)], [*RARELY, (161, "resolved")]),
    ],
    ids=["a batch job", "longer", "every night, then three times as bad", "no rhythm"],
)  # fmt: skip
def test_a_habit_is_known_after_two_times(each, expected) -> None:
    """The third time is told as a habit, later ones only where they are more than that."""
    assert [one for one in bouts(*each) if one[0] < 1200] == expected


@pytest.mark.parametrize("kind", [LOST, SOON])
def test_a_habit_hides_no_loss(kind) -> None:
    """However often it comes, and beside what is a habit."""
    watcher = settled()
    nobody, lost = Trouble(kind=NOBODY, amount=600), Trouble(kind=kind, amount=600)
    told = []
    for number in range(12 * 8):
        wrong = (nobody, lost) if number >= 72 else (nobody,)
        odd = {"g001": wrong} if number % 12 < 6 else {}
        told += [(number, event.kind.value) for event in watcher.look(odd).events]

    assert [kind for number, kind in told if number < 72][-2:] == ["habit", "resolved"]
    assert next(number for number, kind in told if number >= 72 and kind == "opened") <= 73


ODD = st.dictionaries(
    st.sampled_from([f"g{n:03}" for n in range(9)]),
    st.one_of(
        st.none(),
        st.builds(trouble, st.sampled_from([*FACTS]), st.floats(1, 1e6)),
    ),
    max_size=9,
)


@given(st.lists(ODD, max_size=25), st.integers(1, 9), st.lists(st.integers(0, 24), max_size=4))
def test_nothing_is_said_twice_or_left_open(looks, flood, quieted):
    """Whatever comes: keys are unique, each group has one incident, what was told and is over is told to be over."""
    watcher = Watcher(settings=Settings(digest_threshold=flood))
    postings, current = [], set()
    # what came again is over only once it has been well for half as long again as between the two
    for number, odd in enumerate([*looks, *({},) * 40]):
        watcher.quiets = {"g001": quiet()} if number in quieted else {}
        done = watcher.look(odd)
        postings += done.postings
        for event in done.events:
            over = event.kind is EventKind.RESOLVED or event.message.severity is Severity.RESOLVED
            current = current - {*event.groups} if over else current | {*event.groups}
        told = {course.group_id for course in watcher.watch.courses if course.readers}
        assert current <= told
    assert current == set()
    assert len(keys(postings)) == len(set(keys(postings)))
    roots = {one.key for one in postings}
    assert {one.answers or one.replaces for one in postings} - {None} <= roots


@pytest.mark.parametrize(
    ("protocol", "options"),
    [
        (None, "--bootstrap-server a:1,b:2"),
        ("PLAINTEXT", "--bootstrap-server a:1,b:2"),
        ("SASL_SSL", "--bootstrap-server a:1,b:2 --command-config client.properties"),
    ],
)
def test_the_address_of_a_cluster_is_that_of_the_configuration(
    protocol: str | None, options: str
) -> None:
    """A cluster that asks for a login needs a file of properties."""
    properties = {"security.protocol": protocol} if protocol else {}
    known = ClusterSettings(bootstrap="a:1,b:2", properties=properties)
    refused = RefusedCluster(why="no address")
    settings = Settings(clusters={"c": known, "r": refused})
    found = [kafka_options(settings, name) for name in ("c", "r", "none")]
    assert found == [options, None, None]
