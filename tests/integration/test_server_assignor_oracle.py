"""The server-side assignor keeps what it promises, held against a flow that knows every partition, and its replay."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from random import Random
from typing import Any

import pytest
from ortools.graph.python.min_cost_flow import SimpleMinCostFlow

from tests.oracle.compare import ours
from tests.oracle.groups import follow_up, fresh
from tests.oracle.judge import difference
from tests.oracle.jvm import Jvm

pytestmark = [pytest.mark.nightly, pytest.mark.slow]

RACKS = "racks-server"

Case = dict[str, Any]
Lists = dict[str, list[list[Any]]]
"""Member -> partitions."""


@pytest.fixture(scope="module")
def jvm(compiler: None) -> Iterator[Jvm]:
    """Kafka's classes, and ours beside them."""
    with Jvm() as running:
        yield running


def racks_of(case: Case) -> dict[tuple[str, int], set[str]]:
    """(topic, partition) -> racks of its replicas, of topics that somebody subscribes to."""
    wanted = {topic for member in case["members"] for topic in member["topics"]}
    return {
        (name, number): {rack for rack in racks if rack}
        for name, topic in case["topics"].items()
        if name in wanted
        for number, racks in enumerate(topic["partitions"])
    }


def owners_of(case: Case) -> dict[tuple[str, int], str]:
    """Who may keep what: of two that claim a partition the first by id."""
    owners: dict[tuple[str, int], str] = {}
    for member in sorted(case["members"], key=lambda one: str(one["id"])):
        for topic, number in member.get("owned") or ():
            if topic in member["topics"]:
                owners.setdefault((topic, number), member["id"])
    return owners


Price = tuple[int, int, int]
"""How uneven counts are (pairs of partitions with the same owner), how many cross racks, how many move."""


def price(case: Case, answer: Lists) -> Price:
    """That of an answer."""
    racks, owners = racks_of(case), owners_of(case)
    rack = {member["id"]: member.get("rack") for member in case["members"]}
    pairs = [(member, (topic, number)) for member, own in answer.items() for topic, number in own]
    crossing = sum(
        bool(rack[member] and racks[pair] and rack[member] not in racks[pair])
        for member, pair in pairs
    )
    moves = sum(pair in owners and owners[pair] != member for member, pair in pairs)
    return uneven(map(len, answer.values())), crossing, moves


def uneven(counts: Iterable[int]) -> int:
    """Least where the sum of squares is."""
    return sum(count * (count - 1) // 2 for count in counts)


def least(case: Case, highest: int) -> Price:
    """The least price at which everything can be owned, by members that have *highest* partitions at most."""
    racks, owners = racks_of(case), owners_of(case)
    members = {member["id"]: place for place, member in enumerate(case["members"])}
    source, sink = range(len(members), len(members) + 2)
    flow, crossing = SimpleMinCostFlow(), len(racks) + 1
    step = crossing * crossing
    for place, (pair, replicas) in enumerate(racks.items()):
        node = sink + 1 + place
        flow.add_arc_with_capacity_and_unit_cost(source, node, 1, 0)
        for member in case["members"]:
            if pair[0] in member["topics"]:
                far = member.get("rack") and replicas and member["rack"] not in replicas
                moved = pair in owners and owners[pair] != member["id"]
                cost = bool(far) * crossing + moved
                flow.add_arc_with_capacity_and_unit_cost(node, members[member["id"]], 1, cost)
    for member in members.values():
        for before in range(highest):
            flow.add_arc_with_capacity_and_unit_cost(member, sink, 1, step * before)
    flow.set_node_supply(source, len(racks))
    flow.set_node_supply(sink, -len(racks))
    assert flow.solve() == flow.OPTIMAL
    counts, rest = divmod(flow.optimal_cost(), step)
    return counts, *divmod(rest, crossing)


def asked(jvm: Jvm, case: Case) -> Lists:
    """The answer to a case: complete, nothing twice, to subscribers alone."""
    told = jvm.ask({**case, "strategy": RACKS})
    assert "error" not in told, told
    answer: Lists = {m["id"]: told["assignment"].get(m["id"], []) for m in case["members"]}
    given = Counter((topic, number) for own in answer.values() for topic, number in own)
    assert given == Counter(list(racks_of(case)))
    for member in case["members"]:
        assert {topic for topic, _ in answer[member["id"]]} <= set(member["topics"])
    return answer


def by_uniform(jvm: Jvm, case: Case) -> list[int]:
    """How many each member would have by Kafka's own."""
    told = jvm.ask({**case, "strategy": "uniform"})["assignment"]
    return [len(told.get(member["id"], [])) for member in case["members"]]


def random_cases(jvm: Jvm, count: int) -> Iterator[Case]:
    """Groups of every kind of subscription, each with what became of it twice."""
    random = Random(17)
    while count > 0:
        case = fresh("uniform", random)
        for _ in range(3):
            if not case["members"]:
                break
            before = jvm.ask({**case, "strategy": "uniform"})
            if "error" not in before and racks_of(case):
                yield case
                count -= 1
            case = follow_up(case, before if "error" not in before else {"assignment": {}}, random)


def test_random_groups_get_the_least(jvm: Jvm) -> None:
    """In 300 groups counts are most even, racks and then moves least in turn; none is less even than uniform."""
    seen: Counter[str] = Counter()
    for case in random_cases(jvm, 300):
        answer = asked(jvm, case)
        counts = by_uniform(jvm, case)
        best = least(case, max(counts))
        assert price(case, answer) == best, case
        assert best[0] <= uneven(counts)
        seen["evener"] += best[0] < uneven(counts)
        seen["crossing"] += best[1] > 0
        seen["moving"] += best[2] > 0
        seen["apart"] += max(map(len, answer.values())) - min(map(len, answer.values())) > 1
    assert min(seen[what] for what in ("evener", "crossing", "moving", "apart")) > 10, seen


def test_who_has_the_answer_keeps_it(jvm: Jvm) -> None:
    """Asked again, nothing moves; the order in which members are told makes no difference."""
    for case in random_cases(jvm, 60):
        answer = asked(jvm, case)
        members = [{**member, "owned": answer[member["id"]]} for member in case["members"]]
        assert price(case | {"members": members}, asked(jvm, case | {"members": members}))[2] == 0
        turned = asked(jvm, case | {"members": case["members"][::-1]})
        assert {m: sorted(own) for m, own in turned.items()} == {
            m: sorted(own) for m, own in answer.items()
        }


def large(members: int, partitions: int, topics: int, unequal: bool) -> Case:
    """A group in three racks, two replicas each, a tenth of whose members have just come."""
    random = Random(members)
    racks = ["rack-a", "rack-b", "rack-c"]
    case: Case = {"id": "large", "strategy": RACKS, "topics": {}, "members": []}
    case["subscription_type"] = "heterogeneous" if unequal else "homogeneous"
    for number in range(topics):
        case["topics"][f"t{number}"] = {
            "id": f"00000000-0000-4000-8000-{number:012x}",
            "partitions": [random.sample(racks, 2) for _ in range(partitions // topics)],
        }
    every = list(case["topics"])
    for number in range(members):
        of = every if not unequal else every[number % 5 :: 5] + every[:1]
        case["members"].append(
            {"id": f"m{number:05}", "topics": of, "rack": racks[number % 3], "owned": []}
        )
    old = case["members"][members // 10 :]
    for name, topic in case["topics"].items():
        able = [member for member in old if name in member["topics"]]
        for number in range(len(topic["partitions"])):
            random.choice(able)["owned"].append([name, number])
    return case


@pytest.mark.parametrize("unequal", [False, True], ids=["equal", "unequal"])
def test_a_large_group_is_solved_whole(jvm: Jvm, unequal: bool) -> None:
    """10,000 partitions, 100 members: as a small one, and by ours, not by the uniform that steps in for errors."""
    case = large(100, 10_000, 50, unequal)
    answer = asked(jvm, case)
    assert price(case, answer) == least(case, max(by_uniform(jvm, case)))
    assert difference(case, jvm.ask(case), ours(case)) == ""


@pytest.mark.parametrize(
    ("members", "partitions", "unequal"),
    [(3, 200_010, False), (400, 4_000, True)],
    ids=["left to uniform", "counts of uniform"],
)
def test_what_is_too_large_is_replayed(
    jvm: Jvm, members: int, partitions: int, unequal: bool
) -> None:
    """More than 200,000 partitions, and counts so far apart that each member gets as many as by uniform."""
    case = large(members, partitions, 10, unequal)
    if unequal:
        case["topics"]["alone"] = {
            "id": "00000000-0000-4000-8000-0000000000ff",
            "partitions": [["rack-a"]] * 300,
        }
        case["members"][0]["topics"] = ["alone"]
        case["members"][0]["owned"] = []
    theirs = jvm.ask(case, timeout=120)
    assert "error" not in theirs
    assert difference(case, theirs, ours(case)) == ""
    if unequal:
        counts = by_uniform(jvm, case)
        assert len(counts) * (max(counts) - min(counts)) > 100_000
