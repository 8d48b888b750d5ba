"""The HTML file of a report: what it says, what it must not do, and how large it gets."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html import unescape
from html.parser import HTMLParser
from typing import Any, get_args, get_type_hints

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evenkeel.engine.model.assignments import Move, Verdict
from evenkeel.engine.model.states import Diagnosis
from evenkeel.engine.model.text import report_place
from evenkeel.engine.report import Served, notice, policy, render
from evenkeel.engine.report.values import (
    AdviceGiven,
    FailedStep,
    FleetReport,
    ForecastBand,
    GroupReport,
    Happening,
    MemberLoad,
    PromiseKept,
    RackCounts,
    Rebalanced,
    SnapshotHealth,
    Standing,
    StrategyScore,
    Withheld,
    worst_first,
)

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&</title>"


def group(name: str = "orders", **changed: object) -> GroupReport:
    """A group of which little is known, changed."""
    plain = GroupReport(
        group_id=name,
        kind="classic",
        state="Stable",
        strategy="range",
        diagnosis=Diagnosis.HEALTHY,
        diagnosed_at=NOW,
    )
    return replace(plain, **changed)


def fleet(*groups: GroupReport, snapshots: int = 3, cluster: str = "prod") -> FleetReport:
    """A fleet of some groups, a snapshot every five minutes."""
    return FleetReport(
        cluster=cluster,
        made_at=NOW + timedelta(minutes=7),
        origin="prod.recording",
        taken_at=tuple(NOW - timedelta(minutes=5 * n) for n in reversed(range(snapshots))),
        groups=groups,
        snapshots=(),
        held={900.0: (0, 0)},
    )


def filled(kind: type, name: str, /, **known: object) -> Any:
    """A value with something in every field: a text is that name, so that nothing somebody chose is left out."""
    some = {str: name, bool: True, int: 1_234, float: 0.5, datetime: NOW}
    hints = get_type_hints(kind)
    kinds = {field: {hints[field], *get_args(hints[field])} & some.keys() for field in hints}
    plain = {field: some[next(iter(found))] for field, found in kinds.items() if found}
    return kind(**plain | known)


def full(name: str, snapshots: int) -> GroupReport:
    """A group with some of everything, under that name wherever somebody chose a name."""
    score = filled(StrategyScore, name, got_by="setting", reason="the current strategy")
    load = filled(
        MemberLoad, name, utilization=1.16, at_most=False, gets=3, gives=9, lag_after=None
    )
    move = filled(Move, name, partition=3, to_member=None)
    return filled(
        GroupReport,
        name,
        kind="classic",
        diagnosis=Diagnosis.SLOW_MEMBER,
        at_least=False,
        gone_since=None,
        findings=(name,),
        open_incident="catching up",
        now=Standing(lag=1234567, delay_seconds=95.0, time_lag_seconds=100.0),
        standings=tuple(
            Standing(lag=123456 + n, delay_seconds=1.25 * n, time_lag_seconds=1.5 * n)
            for n in range(snapshots)
        ),
        forecasts=tuple(
            ForecastBand(made_at=NOW, due=NOW, low=123.4, expected=12345.6, high=99999.9)
            for _ in range(snapshots)
        ),
        happenings=(filled(Happening, name, kind="opened", severity="warning"),) * 4,
        rebalances=(filled(Rebalanced, name, cause="deploy"),) * 4,
        loads=(load,) * 12,
        racks=RackCounts(
            members=(name, None), leaders=(name, None), counts=((3, 1), (0, 2)), local=(4, None)
        ),
        strategies=(*(score,) * 12, replace(score, feasible=False)),
        advice=filled(
            AdviceGiven, name, verdict=Verdict.SWITCH, state="confirmed", moves=(move,) * 20
        ),
    )


def stored(ours: FleetReport, name: str) -> FleetReport:
    """The same with some of everything that only a history knows, under that name wherever somebody chose one."""
    lag = {"measure": "lag", "unit": "offsets", "after_seconds": 3600, "checks": 3, "known": 2}
    switched = {"if_stayed": 24_000.0, "came": 120.0, "saved_offset_seconds": 7.2e6}
    promise = filled(PromiseKept, name, error=-1234.0, no_worse_share=1.0, **lag, **switched)
    without = {"if_stayed": 32_760.0, "came": 3960.0, "saved_offset_seconds": None}
    late = replace(promise, measure="delay_seconds", unit="s", error=95.0, **without)
    share = replace(
        promise,
        measure="utilization",
        unit="ratio",
        error=0.123,
        muted_until=None,
        **dict.fromkeys(without),
    )
    unknown = replace(promise, known=0, error=None, inside_share=None, no_worse_share=None)
    return replace(
        ours,
        snapshots=(filled(SnapshotHealth, name, state="advised", rejected=None),),
        scorecard=(promise, late, share, unknown),
        failures=(filled(FailedStep, name, step="advise"),),
        withheld=(filled(Withheld, name, stage="snapshot", snapshots=3),),
        pipeline=(filled(Happening, name, kind="opened", severity="critical"),),
        not_known=("What a history does not keep.",),
    )


class Elements(HTMLParser):
    """Every element with its attributes, and the text outside scripts and styles."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self._texts: list[str] = []
        self.bodies: dict[str, list[str]] = {"script": [], "style": []}
        self._inside = ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        """One more."""
        self.elements.append((tag, dict(attrs)))
        self._inside = tag if tag in self.bodies else ""
        if self._inside:
            self.bodies[tag].append("")

    def handle_endtag(self, tag):
        """It ends."""
        self._inside = ""

    def handle_data(self, data):
        """Some text."""
        if self._inside:
            self.bodies[self._inside][-1] += data
        else:
            self._texts.append(data)

    @property
    def text(self) -> str:
        """All text."""
        return "".join(self._texts)

    def named(self, tag: str) -> list[dict[str, str | None]]:
        """The attributes of each element of a kind."""
        return [attributes for kind, attributes in self.elements if kind == tag]


def drawn(page: str) -> dict:
    """The data of the charts."""
    return json.loads(Elements(page).bodies["script"][0])


def test_names_are_text_wherever_they_stand():
    """A group, topic, member, rack or cluster called like an element adds no element and no attribute."""
    evil, harmless = (
        Elements(render(stored(fleet(full(EVIL, 3), cluster=EVIL), EVIL))),
        Elements(render(stored(fleet(full("plain", 3), cluster="plain"), "plain"))),
    )

    assert [tag for tag, _ in evil.elements] == [tag for tag, _ in harmless.elements]
    assert [sorted(a) for _, a in evil.elements] == [sorted(a) for _, a in harmless.elements]
    assert evil.text.count("alert(1)") >= 15


def test_a_name_in_the_data_of_the_charts_ends_no_script():
    """What a chart draws goes in as data, also if it looks like the end of a script."""
    happening = Happening(at=NOW, kind="</script><script>alert(1)", title="", severity="info")
    page = render(fleet(group(happenings=(happening,), standings=(Standing(),) * 3)))

    assert len(Elements(page).named("script")) == 3
    assert drawn(page)["groups"][0]["marks"] == [[int(NOW.timestamp()), happening.kind, "info"]]


@settings(max_examples=max(5, settings().max_examples // 5))
@given(
    name=st.text(alphabet="<>\"'&`=/!- a\x1b\x85\u2028\u202e\u2066\n\0", max_size=12).map(
        "x{}".format
    )
)
@example(name="a\x1bb")
@example(name='</textarea><script>"\u202e')
def test_a_name_is_shown_without_signs_that_are_not_for_readers(name: str) -> None:
    """Control characters and signs that turn the direction are written out wherever it stands, and it adds nothing."""
    page, plain = (
        Elements(
            render(stored(fleet(full(each, 3), cluster=each), each), Served(clusters=(each, "b")))
        )
        for each in (name, "x")
    )
    assert [
        line for line in page.text.split("\n") if not line.replace("\t", "").isprintable()
    ] == []
    assert [(tag, {*a}) for tag, a in page.elements] == [(tag, {*a}) for tag, a in plain.elements]
    values = [value for _, own in page.elements for value in own.values() if value]
    assert [value for value in values if not value.isprintable()] == []


def test_the_file_asks_for_nothing():
    """No element names an address, the policy forbids requests, and lets exactly these scripts and styles run."""
    parsed = Elements(render(fleet(full("plain", 3))))
    asking = {"src", "href", "action", "srcset", "data", "poster"}

    assert not [a for _, a in parsed.elements if asking & a.keys()]
    assert not [a for _, a in parsed.elements if "style" in a or any(k.startswith("on") for k in a)]
    (policy,) = [a["content"] for a in parsed.named("meta") if a.get("http-equiv")]
    assert policy.startswith("default-src 'none'; ")
    for body in (*parsed.bodies["script"][1:], *parsed.bodies["style"]):
        digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
        assert "@import" not in body
        assert "url(" not in body
        assert "fetch(" not in body


def test_the_library_brings_its_license():
    """Whoever passes the file on passes the license on, as it asks."""
    page = render(fleet(group()))

    assert "The MIT License (MIT)" in page
    assert "Leon Sorokin" in page


def test_unknown_is_a_question_mark_and_nought_is_nought():
    """No number that is not known is shown or drawn as 0."""
    page = render(fleet(group(standings=(Standing(lag=0), Standing(), None))))
    cells = re.findall(r'<span class="n (?:lag|delay)">([^<]*)', page)

    assert cells == ["?", "?"]
    assert "? offsets" in Elements(page).text
    assert drawn(page)["groups"][0]["lag"] == [0, None, None]
    assert re.findall(
        r'<span class="n (?:lag|delay)">([^<]*)',
        render(fleet(group(now=Standing(lag=0, delay_seconds=0.0)))),
    ) == ["0", "0 s"]


def test_a_member_that_only_kept_up_is_at_most_so_busy():
    """Where only the least that it can do is known, no bar pretends that it is full."""
    load = MemberLoad(
        name="m",
        rack=None,
        utilization=0.99,
        at_most=True,
        not_committing=False,
        lag=None,
        partitions=1,
    )
    sure = replace(load, at_most=False)

    assert "at most 99%" in Elements(render(fleet(group(loads=(load,))))).text
    assert not Elements(render(fleet(group(loads=(load,))))).named("meter")
    assert [m["value"] for m in Elements(render(fleet(group(loads=(sure,))))).named("meter")] == [
        "0.990"
    ]


def test_how_old_the_data_is():
    """The moment of the newest snapshot, and its age when the file was made."""
    text = " ".join(Elements(render(fleet(group()))).text.split())

    assert (
        "Newest snapshot 2026-03-01 12:00:00 UTC, 7 min old at the creation of this report" in text
    )


def test_a_snapshot_that_was_not_whole():
    """What could not be read of it, and that validation rejected it."""
    health = SnapshotHealth(
        taken_at=NOW, seconds=1.5, groups=None, problems=2, withheld=0, rejected="<b>no brokers"
    )
    page = render(replace(fleet(group()), snapshots=(health,)))
    text = " ".join(Elements(page.replace("<td", " <td")).text.split())

    assert "1 snapshot, 1 rejected by validation" in text
    assert "03-01 12:00 1.5 s ? 2 0 <b>no brokers" in text


def test_how_advice_kept_what_it_promised():
    """What came less what was expected in its unit, the shares over all that is known, and what is muted."""
    text = " ".join(
        Elements(render(stored(fleet(full("orders", 3)), "orders")).replace("<", " <")).text.split()
    )

    assert "1 group is advised to switch." in text
    assert "6 forecasts checked: 50% within p10-p90 (target 80%), 100% not worse than p90" in text
    moments = "03-01 12:00 2026-03-01 12:00:00 UTC"
    assert f"lag 1 h 2 of 3 -1,234 50% 100% 24,000 120 2,000 {moments}" in text
    assert "time behind 1 h 2 of 3 +1 min 35 s 50% 100% 9 h 6 min 1 h 6 min - 03-01" in text
    assert "busiest member 1 h 2 of 3 +12 points 50% 100% - - - 03-01 12:00 -" in text
    assert "lag 1 h 0 of 3 ? ? ? 24,000" in text


def test_what_a_lake_does_not_know_is_not_shown_as_none():
    """Failed steps and incidents of the pipeline: nothing is said of them, or how many, or that there was none."""
    ours = stored(fleet(full("orders", 3)), "orders")
    known = Elements(render(ours)).text
    none = Elements(render(replace(ours, failures=(), pipeline=()))).text
    unknown = Elements(render(replace(ours, failures=None, pipeline=None))).text

    assert "Failed steps" in known
    assert "No step failed." in none
    assert "The pipeline had no incidents." in none
    for said in (
        "Failed steps",
        "No step failed",
        "The pipeline had no",
        "Incidents of the pipeline",
    ):
        assert said not in unknown
    assert "What a history does not keep." in unknown


def test_what_validation_withheld():
    """Which group at which stage, from how many snapshots, and why."""
    page = render(stored(fleet(full("orders", 3)), "orders")).replace("<td", " <td")

    assert "orders snapshot 3 03-01 12:00 orders" in " ".join(Elements(page).text.split())


@pytest.mark.slow
def test_a_thousand_groups_are_less_than_five_megabytes():
    """With some of everything in each of them, and more snapshots than a chart has points."""
    snapshots = 60
    one = full("payments-123", snapshots)
    groups = (replace(one, group_id=f"payments-{n}") for n in range(1000))
    page = render(fleet(*groups, snapshots=snapshots))

    assert len(page.encode()) < 5e6
    in_full = page.count("<h3>Strategies</h3>")
    assert 250 < in_full < 1000
    assert page.count("are omitted to limit the size") == 1000 - in_full
    assert page.index("are omitted to limit the size") > page.rindex("<h3>Strategies</h3>")
    first = drawn(page)["groups"][0]
    assert len(first["lag"]) <= 30
    assert first["lag"][-1] == pytest.approx(123456 + snapshots - 1, rel=1e-3)


@pytest.mark.slow
def test_what_stands_where_there_is_no_room_is_counted():
    """A reader is told what was left out."""
    one = full("g", 3)
    groups = (replace(one, group_id=f"g{n}") for n in range(201))
    text = Elements(render(fleet(*groups))).text

    assert "and 8 less busy ones" in text
    assert "and 16 more" in text


def test_the_worst_is_first():
    """An open incident comes before a diagnosis, that before delay and lag; who is gone comes last."""
    later = Standing(delay_seconds=900.0)
    groups = [
        group("gone", gone_since=NOW, diagnosis=Diagnosis.UNKNOWN),
        group("well"),
        group("behind", now=later),
        group("slow", diagnosis=Diagnosis.SLOW_MEMBER),
        group("alone", diagnosis=Diagnosis.NO_MEMBERS),
        group("open", diagnosis=Diagnosis.CATCHING_UP, open_incident="catching up"),
    ]

    ordered = [one.group_id for one in sorted(groups, key=worst_first)]

    assert ordered == ["open", "alone", "slow", "behind", "well", "gone"]


def links(page: str) -> list[str]:
    """Where a page leads to."""
    return [unescape(address) for address in re.findall(r'<a href="([^"]*)"', page)]


def test_a_page_that_is_served_leads_to_the_others():
    """All groups to the page of each and to the other clusters; one group to all; a file leads nowhere."""
    one = group(EVIL)
    place = report_place("prod", EVIL)
    assert links(render(fleet(one))) == []
    assert links(render(fleet(one), Served(clusters=["prod"]))) == [f"./{place}"]
    assert links(render(fleet(one), Served(clusters=["a b", "prod"]))) == [
        *("./?cluster=a%20b", "./?cluster=prod", f"./{place}"),
    ]
    alone = render(fleet(one), Served(clusters=["prod"], alone=True))
    assert links(alone) == ["./?cluster=prod"]
    assert "<script>alert" not in alone


def test_a_notice_says_why_there_is_no_report():
    """Its words are text, whatever they quote; it leads where it is told to, under the policy of all pages."""
    page = notice(EVIL, [f"no group {EVIL}"], {"All <groups>": "./?cluster=a&b"})
    assert "<script>" not in page
    assert links(page) == ["./?cluster=a&b"]
    assert "No group &lt;script&gt;" in page
    assert policy() in unescape(page)


def test_a_served_page_has_the_worst_of_a_large_fleet():
    """A page that a browser waits for has so many at most; all are counted, and the others can be looked at."""
    many = [group(f"g{number:02}", diagnosis=Diagnosis.NO_MEMBERS) for number in range(12)]
    page = render(fleet(*many), Served(clusters=["prod"], most=10))
    assert len(links(page)) == 10
    assert "12 groups</h2>" in page
    assert "<b>12</b> no members" in page
    assert "The other 2 have pages at <code>groups?cluster=prod&amp;group=</code>" in page
