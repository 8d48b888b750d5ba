"""The server-side assignor follows plans of a folder by the rule of the followers, as that is stated in Python."""

from __future__ import annotations

import fcntl
import json
import os
import signal
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

from evenkeel.engine.followers.plan import Plan, PlannedMember, PlannedTopic, TopicPartition
from evenkeel.engine.followers.rule import Present, anchors, follow
from tests.integration.test_server_assignor_oracle import large
from tests.oracle.groups import follow_up, fresh
from tests.oracle.jvm import NO_COMPILER, Jvm
from tests.stage.process import find_java, has_compiler, wait_until

pytestmark = [pytest.mark.nightly, pytest.mark.slow]

MADE = datetime(2026, 3, 1, tzinfo=UTC)
NEVER = datetime(9999, 1, 1, tzinfo=UTC)
F_SETSIG = 10
"""Linux's: by which signal a holder of a lease is told. Python has no name for it before 3.12."""

HOST = "known"
"""An address for the rule, which knows dynamic members by client id and host: brokers go by the member id instead."""

Case = dict[str, Any]
Owners = dict[TopicPartition, str]


@pytest.fixture(scope="module")
def jvm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Jvm]:
    """Kafka's classes, and ours beside them."""
    if not has_compiler(find_java()[0]):
        pytest.skip(NO_COMPILER)
    with Jvm(log=tmp_path_factory.mktemp("log") / "oracle.log") as running:
        yield running


def warned(jvm: Jvm, word: object) -> list[str]:
    """What was logged so far that holds a word."""
    lines = jvm.log.read_text(errors="replace").splitlines()
    return [line for line in lines if " WARN " in line and str(word) in line]


def asked(jvm: Jvm, case: Case, folder: Path | None = None) -> Owners:
    """Who gets what, by plans of a folder or by racks alone."""
    given = {} if folder is None else {"plans": str(folder)}
    told = jvm.ask({**case, **given, "strategy": "racks-server"})
    assert "error" not in told, told
    pairs = [((t, n), member) for member, own in told["assignment"].items() for t, n in own]
    assert len(pairs) == len(dict(pairs))
    return dict(pairs)


def holding(case: Case, owners: Mapping[TopicPartition, str]) -> Case:
    """The group whose members have this."""
    members = [
        {**one, "owned": [list(pair) for pair in sorted(owners) if owners[pair] == one["id"]]}
        for one in case["members"]
    ]
    return {**case, "members": members}


def held(case: Case) -> Owners:
    """What members have that they may keep; of two that claim a partition the first by id has it."""
    owners: Owners = {}
    for member in sorted(case["members"], key=lambda one: str(one["id"])):
        for topic, number in member.get("owned") or ():
            sizes = {name: len(one["partitions"]) for name, one in case["topics"].items()}
            if topic in member["topics"] and number < sizes.get(topic, 0):
                owners.setdefault((topic, number), member["id"])
    return owners


def by_rule(jvm: Jvm, case: Case, plan: Plan) -> Owners:
    """The rule of the followers over the racks, put to its own answer until that stays."""
    members = tuple(replace(one, client_id=one.member_id, host=HOST) for one in plan.members)
    there = replace(plan, members=members)
    here = [
        Present(
            member_id=one["id"],
            topics=one["topics"],
            instance_id=one.get("instance_id"),
            client_id=one["id"],
            addresses=(HOST,),
        )
        for one in case["members"]
    ]
    own = anchors(there, here)
    case = at_home(case, own)
    owners = held(case)
    for _ in range(4):
        started = dict(owners)
        for member, pairs in own.items():
            started |= {p: member for p in pairs if started.get(p) is None or started[p] in own}
        racks = asked(jvm, holding(case, started))
        lists = {one.member_id: [p for p in racks if racks[p] == one.member_id] for one in here}
        followed = follow(there, plan.group, plan.made_at, here, lists)
        after = {p: member for member, pairs in followed.assignment.items() for p in pairs}
        settled = after == owners or len(after) > 20_000
        owners = after
        if settled:
            break
    return owners


def at_home(case: Case, own: Mapping[str, Collection[TopicPartition]]) -> Case:
    """The group as racks are asked for it: what the plan gives a member is in that one's rack."""
    rack_of = {one["id"]: [one["rack"]] if one.get("rack") else [] for one in case["members"]}
    placed = {pair: rack_of[member] for member, pairs in own.items() for pair in pairs}
    topics = {
        name: {
            **topic,
            "partitions": [
                placed.get((name, number), racks)
                for number, racks in enumerate(topic["partitions"])
            ],
        }
        for name, topic in case["topics"].items()
    }
    return {**case, "topics": topics}


def stored(folder: Path, plan: Plan, name: str = "plan.json") -> Path:
    """The plan in a folder, which is made if need be."""
    folder.mkdir(exist_ok=True)
    partial = folder / ".partial"
    partial.write_text(plan.to_json())
    return partial.replace(folder / name)


def random_plan(case: Case, random: Random) -> Plan:
    """Anything to anybody: to members that are gone, to those that do not subscribe; of some nobody's."""
    ids = {one["id"]: one.get("instance_id") for one in case["members"]}
    known = random.sample(sorted(ids), random.randint(1, len(ids)))
    gone = {f"gone-{n}": random.choice([None, f"host-{n}"]) for n in range(random.randint(0, 2))}
    subscribed = {one["id"]: one["topics"] for one in case["members"]}
    own: dict[str, dict[str, list[int]]] = {name: {} for name in [*known, *gone]}
    for topic, told in case["topics"].items():
        able = [one for one in known if topic in subscribed[one]]
        for number in range(len(told["partitions"]) + random.choice([0, 0, 1])):
            kind = random.random()
            one = random.choice(able if kind < 0.8 and able else [*known, *gone])
            if kind < 0.95:
                own[one].setdefault(topic, []).append(number)
    return Plan(
        group="g",
        members=tuple(
            PlannedMember(
                member_id=name,
                instance_id=(ids | gone)[name],
                partitions={topic: tuple(numbers) for topic, numbers in topics.items()},
            )
            for name, topics in own.items()
        ),
        made_at=MADE,
        valid_until=NEVER,
        fallback="sticky",
        topics={
            name: PlannedTopic(id=one["id"], partitions=len(one["partitions"]))
            for name, one in case["topics"].items()
        },
    )


def fits(case: Case, plan: Plan) -> bool:
    """Whether a member of the plan is here that subscribes to a topic which is there."""
    known = {(one.instance_id, one.instance_id or one.member_id) for one in plan.members}
    return any(
        (one.get("instance_id"), one.get("instance_id") or one["id"]) in known
        and set(one["topics"]) & set(case["topics"])
        for one in case["members"]
    )


def test_random_groups_get_the_rules_answer_and_keep_it(jvm: Jvm, tmp_path: Path) -> None:
    """In 250 groups, each before and after some time; asked again, nothing moves."""
    random, seen, answers = Random(29), Counter[str](), 0
    while answers < 250:
        case = fresh("uniform", random)
        if not case["members"] or "error" in jvm.ask({**case, "strategy": "uniform"}):
            continue
        plan = random_plan(case, random)
        folder = stored(tmp_path / str(answers), plan).parent
        for _ in range(2):
            if not case["members"] or not fits(case, plan):
                break
            if "error" in jvm.ask({**case, "strategy": "uniform"}):
                break
            answer = asked(jvm, case, folder)
            assert answer == by_rule(jvm, case, plan), case
            assert asked(jvm, holding(case, answer), folder) == answer
            answers += 1
            seen.update(kinds(case, plan, answer, held(case)))
            lists = {one["id"]: one["owned"] for one in holding(case, answer)["members"]}
            case = follow_up(case, {"assignment": lists}, random)
    wanted = ("planned", "unknown", "absent", "unplanned", "moving", "not subscribed", "static")
    assert min(seen[what] for what in wanted) > 40, seen


def kinds(case: Case, plan: Plan, answer: Owners, before: Owners) -> set[str]:
    """What a random group shows."""
    names = {one["id"]: one.get("instance_id") or one["id"] for one in case["members"]}
    entries = {one.instance_id or one.member_id: one for one in plan.members}
    by_plan = {pair: name for name, one in entries.items() for pair in one.pairs}
    subscribed = {names[one["id"]]: one["topics"] for one in case["members"]}
    shown = {
        "planned": any(by_plan.get(pair) == names[one] for pair, one in answer.items()),
        "unknown": any(name not in entries for name in names.values()),
        "absent": any(name not in names.values() for name in entries),
        "unplanned": any(pair not in by_plan for pair in answer),
        "moving": any(before.get(pair, one) != one for pair, one in answer.items()),
        "not subscribed": any(
            name in subscribed and pair[0] not in subscribed[name] for pair, name in by_plan.items()
        ),
        "static": any(one.get("instance_id") for one in case["members"]),
    }
    return {kind for kind, so in shown.items() if so}


def test_a_large_group_is_asked_for_once(jvm: Jvm, tmp_path: Path) -> None:
    """21,000 partitions, 30 members: by the rule, whose answer is not put to it again."""
    case = large(30, 21_000, 50, unequal=False)
    plan = random_plan(case, Random(3))
    folder = stored(tmp_path, plan).parent
    answer = asked(jvm, case, folder)
    assert answer == by_rule(jvm, case, plan)
    assert len(answer) == 21_000


IDS = {
    "orders": "7a24c36f-f906-4643-aa9b-8d36cea39abc",
    "later": "11111111-f906-4643-aa9b-8d36cea39abc",
}


def group(*members: str, partitions: int = 6, topic_id: str = IDS["orders"], **own: Any) -> Case:
    """One topic, no racks; members by name: `s-...` are static, with a member id that ends in `own['life']`."""
    life = own.get("life", 1)
    return {
        "id": "g",
        "topics": {"orders": {"id": topic_id, "partitions": [[]] * partitions}},
        "members": [
            {
                "id": f"{name}-{life}" if name.startswith("s-") else name,
                "instance_id": name if name.startswith("s-") else None,
                "topics": ["orders"],
                "owned": [],
            }
            for name in members
        ],
    }


def plan_of(own: Mapping[str, list[int]], **more: Any) -> Plan:
    """Name of each member -> its partitions of the one topic."""
    return Plan(
        members=tuple(
            PlannedMember(
                member_id=f"{name}-1" if name.startswith("s-") else name,
                instance_id=name if name.startswith("s-") else None,
                partitions={"orders": tuple(numbers)},
            )
            for name, numbers in own.items()
        ),
        **{
            "group": "g",
            "made_at": MADE,
            "valid_until": NEVER,
            "fallback": "sticky",
            "topics": {"orders": PlannedTopic(id=IDS["orders"], partitions=6)},
        }
        | more,
    )


UNEVEN = plan_of({"s-a": [0, 1, 2, 3], "s-b": [5], "d": [4]})


def numbers(owners: Owners) -> dict[str, list[int]]:
    """Member -> partitions of the one topic."""
    return {m: sorted(p[1] for p in owners if owners[p] == m) for m in sorted(set(owners.values()))}


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        (group("s-a", "s-b", "d"), {"d": [4], "s-a-1": [0, 1, 2, 3], "s-b-1": [5]}),
        (group("s-a", "s-b", "d", life=2), {"d": [4], "s-a-2": [0, 1, 2, 3], "s-b-2": [5]}),
        (group("s-a", "s-b", life=2), {"s-a-2": [0, 1, 2, 3], "s-b-2": [4, 5]}),
    ],
    ids=["all fits", "restarted", "one has left"],
)
def test_a_plan_is_followed(
    jvm: Jvm, tmp_path: Path, case: Case, expected: dict[str, list[int]]
) -> None:
    """By instance ids over restarts, by member ids until one; what has no member any more goes where racks give it."""
    stored(tmp_path, UNEVEN)
    assert numbers(asked(jvm, case, tmp_path)) == expected


def test_who_is_new_gets_a_share_and_keeps_it(jvm: Jvm, tmp_path: Path) -> None:
    """As much as without a plan; the rest is as planned, also once it has gone."""
    stored(tmp_path, UNEVEN)
    case = group("s-a", "s-b", "d", "e")
    first = asked(jvm, case, tmp_path)
    share = numbers(first)["e"]
    assert 1 <= len(share) <= 2
    assert {n: m for m, own in numbers(first).items() for n in own if n not in share} == {
        n: m
        for m, own in numbers(asked(jvm, group("s-a", "s-b", "d"), tmp_path)).items()
        for n in own
        if n not in share
    }
    assert asked(jvm, holding(case, first), tmp_path) == first
    more = holding(group("s-a", "s-b", "d", "e", partitions=7), first)
    assert set(share) <= set(numbers(asked(jvm, more, tmp_path))["e"])


def test_what_is_left_over_evens_counts_then_goes_home(jvm: Jvm, tmp_path: Path) -> None:
    """Beside a plan that does not care for racks, who has left is replaced evenly; of two that may, by the nearer."""
    case = group("s-a", "s-b", "s-c")
    case["topics"]["orders"]["partitions"] = [["b"], ["b"], ["a"], ["a"], ["b"], ["a"]]
    for one, rack in zip(case["members"], "abc", strict=True):
        one["rack"] = rack
    stored(tmp_path, plan_of({"s-a": [0, 1], "s-b": [2, 3], "s-c": [], "gone": [4, 5]}))
    assert numbers(asked(jvm, case, tmp_path))["s-c-1"] == [4, 5]
    two = {**case, "members": case["members"][:2]}
    assert numbers(asked(jvm, two, tmp_path)) == {"s-a-1": [0, 1, 5], "s-b-1": [2, 3, 4]}


@pytest.mark.parametrize(
    ("case", "plan", "word"),
    [
        (group("s-a", "s-b"), replace(UNEVEN, valid_until=MADE), "the plan expired at 2026-03-01"),
        (group("s-a", "s-b", topic_id=IDS["later"]), UNEVEN, None),
        (group("s-x", "s-y"), UNEVEN, None),
        (group("s-x", "d-1"), UNEVEN, None),
    ],
    ids=["expired", "a topic made anew", "other static members", "other members"],
)
def test_a_plan_that_is_not_for_now_or_for_others_changes_nothing(
    jvm: Jvm, tmp_path: Path, case: Case, plan: Plan, word: str | None
) -> None:
    """Racks decide; one that is over is warned of, once."""
    stored(tmp_path, plan)
    for _ in range(3):
        assert asked(jvm, case, tmp_path) == asked(jvm, case)
    assert [word in line for line in warned(jvm, tmp_path)] == ([True] if word else [])


FITS = json.loads(UNEVEN.to_json())
BROKEN: dict[str, tuple[str | bytes, str]] = {
    "empty": ("", "it is no JSON object"),
    "half": (UNEVEN.to_json()[:-20], "it is no JSON"),
    "more behind it": (UNEVEN.to_json() + "}", "it is no JSON"),
    "no object": ("[]", "it is no JSON object"),
    "no UTF-8": (b'{"schema": "\xff"}', "it is no JSON"),
    "too deep": ("[" * 100_000, "it is no JSON"),
    "schema": (json.dumps(FITS | {"schema": "evenkeel-plan/2"}), "its schema is"),
    "too large": (UNEVEN.to_json() + " " * (8 << 20), "it is larger than 8 MiB"),
    "without members": (json.dumps(FITS | {"members": None}), "members should be a list"),
    "no topic ids": (
        json.dumps(FITS | {"topics": {"orders": {"id": None, "partitions": 6}}}),
        "it names no topic ids",
    ),
    "no such id": (
        json.dumps(FITS | {"topics": {"orders": {"id": "orders", "partitions": 6}}}),
        "'orders' is no topic id",
    ),
    "no time zone": (
        json.dumps(FITS | {"valid_until": "2026-03-08T12:00:00"}),
        "is no time with a time zone",
    ),
    "no partition": (
        json.dumps(FITS | {"members": [{"partitions": {"orders": [True]}}]}),
        "true is no partition",
    ),
    "twice": (
        json.dumps(FITS | {"members": [{"partitions": {"orders": [0]}}] * 2}),
        "it gives orders-0 to two members",
    ),
}


@pytest.mark.parametrize(("content", "word"), BROKEN.values(), ids=BROKEN)
def test_a_broken_file_is_warned_of_once(
    jvm: Jvm, tmp_path: Path, content: str | bytes, word: str
) -> None:
    """Racks decide, and the files beside it are read."""
    broken = tmp_path / "broken.json"
    broken.write_bytes(content.encode() if isinstance(content, str) else content)
    case = group("s-a", "s-b")
    for _ in range(3):
        assert asked(jvm, case, tmp_path) == asked(jvm, case)
    (line,) = warned(jvm, broken)
    assert word in line
    stored(tmp_path, UNEVEN)
    planned = asked(jvm, case, stored(tmp_path.with_name(f"{tmp_path.name}-good"), UNEVEN).parent)
    wait_until(lambda: asked(jvm, case, tmp_path) == planned, 20, "the plan to be followed")
    assert len(warned(jvm, broken)) == 1


def test_a_broker_without_a_folder_of_plans_has_racks_alone(jvm: Jvm) -> None:
    """So has one that names an empty one; what is no path ends a broker at its start."""
    case = group("s-a", "s-b")
    assert asked(jvm, case, Path(" ")) == asked(jvm, case)
    told = jvm.ask({**case, "plans": "a\0b", "strategy": "racks-server"})
    assert "it is no path" in told["error"]


def test_the_folder_is_looked_at_again(jvm: Jvm, tmp_path: Path) -> None:
    """It may come later; a plan is followed once it is there, changed once it has, and not once it is gone."""
    folder, case = tmp_path / "plans", group("s-a", "s-b", "d")
    racks = asked(jvm, case)

    def until(expected: Owners, what: str) -> None:
        wait_until(lambda: asked(jvm, case, folder) == expected, 20, what)

    assert asked(jvm, case, folder) == racks
    (line,) = warned(jvm, folder)
    assert "the folder cannot be read" in line
    path = stored(folder, UNEVEN)
    wait_until(lambda: len(numbers(asked(jvm, case, folder))["s-a-1"]) == 4, 20, "the plan")
    # as long, and as old: another file none the less
    other = plan_of({"s-a": [0, 1, 2, 5], "s-b": [3], "d": [4]})
    then = path.stat()
    os.utime(stored(folder, other, "other.json"), ns=(then.st_atime_ns, then.st_mtime_ns))
    (folder / "other.json").replace(path)
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (then.st_size, then.st_mtime_ns)
    wait_until(lambda: numbers(asked(jvm, case, folder))["s-a-1"] == [0, 1, 2, 5], 20, "the other")
    path.unlink()
    until(racks, "no plan")
    os.mkfifo(folder / "pipe.json")  # who opens it waits for ever

    def is_warned_of() -> bool:
        assert asked(jvm, case, folder) == racks
        return warned(jvm, folder / "pipe.json") != []

    wait_until(is_warned_of, 20, "the pipe to be passed over")


@contextmanager
def out_of_reach(path: Path) -> Iterator[None]:
    """A file that whoever opens it waits for, 45 s at most: somebody has a lease on it."""
    with path.open("r+b") as file:
        fcntl.fcntl(
            file, F_SETSIG, signal.SIGURG
        )  # what tells of those who wait; by default it would end us
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        try:
            yield
        finally:
            fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_UNLCK)


def test_nobody_waits_for_a_file_that_cannot_be_read_now(jvm: Jvm, tmp_path: Path) -> None:
    """Plans of before are followed meanwhile, and the new one once it can be read."""
    case = group("s-a", "s-b", "d")
    stored(tmp_path, UNEVEN)
    planned = asked(jvm, case, tmp_path)
    assert len(numbers(planned)["s-a-1"]) == 4
    newer = plan_of({"s-a": [0], "s-b": [1, 2, 3, 4], "d": [5]}, made_at=MADE + timedelta(days=1))
    path = stored(tmp_path, newer, ".later")
    with out_of_reach(path):
        path.rename(tmp_path / "later.json")

        def is_late() -> bool:
            assert asked(jvm, case, tmp_path) == planned
            return any("no answer within 500 ms" in line for line in warned(jvm, tmp_path))

        wait_until(is_late, 20, "a look that takes long")
        assert asked(jvm, case, tmp_path) == planned
    wait_until(lambda: numbers(asked(jvm, case, tmp_path))["s-a-1"] == [0], 20, "the newer plan")


def test_plans_of_several_groups_with_the_same_names_are_told_apart(
    jvm: Jvm, tmp_path: Path
) -> None:
    """By member ids while one is as it was; after that none is followed, and it is said which fit."""
    mine, others = group("s-a", "s-b"), group("s-a", "s-b", life=7)
    stored(tmp_path, plan_of({"s-a": [0, 1, 2, 3, 4], "s-b": [5]}), "mine.json")
    theirs = plan_of({"s-a": [0], "s-b": [1, 2, 3, 4, 5]}, group="h")
    renamed = tuple(replace(one, member_id=f"{one.instance_id}-7") for one in theirs.members)
    stored(tmp_path, replace(theirs, members=renamed), "theirs.json")
    assert numbers(asked(jvm, mine, tmp_path)) == {"s-a-1": [0, 1, 2, 3, 4], "s-b-1": [5]}
    assert numbers(asked(jvm, others, tmp_path)) == {"s-a-7": [0], "s-b-7": [1, 2, 3, 4, 5]}
    restarted = group("s-a", "s-b", life=8)
    for _ in range(3):
        assert asked(jvm, restarted, tmp_path) == asked(jvm, restarted)
    (line,) = warned(jvm, "fit the same group")
    assert str(tmp_path / "mine.json") in line
    assert str(tmp_path / "theirs.json") in line


def test_of_plans_of_one_group_the_newest_is_followed(jvm: Jvm, tmp_path: Path) -> None:
    """Whatever the files are called; also where it is over before the older."""
    stored(tmp_path, plan_of({"s-a": [0, 1, 2, 3, 4], "s-b": [5]}), "z.json")
    newer = plan_of({"s-a": [5], "s-b": [0, 1, 2, 3, 4]}, made_at=MADE + timedelta(days=1))
    stored(tmp_path, newer, "a.json")
    case = group("s-a", "s-b")
    assert numbers(asked(jvm, case, tmp_path)) == {"s-a-1": [5], "s-b-1": [0, 1, 2, 3, 4]}
    over = tmp_path.with_name(f"{tmp_path.name}-over")
    stored(over, UNEVEN, "z.json")
    stored(over, replace(newer, valid_until=MADE + timedelta(days=2)), "a.json")
    assert asked(jvm, case, over) == asked(jvm, case)


def test_what_of_a_plan_does_not_fit_is_said_once(jvm: Jvm, tmp_path: Path) -> None:
    """Who is missing, who is new, how many partitions racks give; again when that changes."""
    plan = plan_of({"s-a": [0, 1, 2], "s-b": [3, 4, 5]}, group="told")
    stored(tmp_path, plan)
    for _ in range(2):
        asked(jvm, group("s-a", "new"), tmp_path)
    lines = [line.split("Group told: ")[1] for line in warned(jvm, "Group told")]
    assert lines[0] == "not here, but in the plan: s-b"
    assert lines[1] == "here, but not in the plan: new"
    assert lines[2].endswith(" partitions are given by racks, not by the plan")
    assert len(lines) == 3
    asked(jvm, group("s-a", "s-b"), tmp_path)
    asked(jvm, group("s-a", "new"), tmp_path)
    assert len(warned(jvm, "Group told")) == 6
