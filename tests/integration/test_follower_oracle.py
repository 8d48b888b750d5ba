"""Java's follower of a plan answers as Python's rule does, settles, and falls back with its reason told once."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from random import Random
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.serialization.pkcs12 import (
    PKCS12Certificate,
    serialize_java_truststore,
)

from evenkeel.engine.followers.plan import PlanError, read_plan
from tests.helpers.certificates import Authority
from tests.oracle.follower import FollowerJvm
from tests.oracle.follower.cases import answered, random_case
from tests.stage.serving import LocalServer, Quiet, serving

pytestmark = [pytest.mark.nightly, pytest.mark.slow]

DATA = Path(__file__).parents[1] / "data"
CASES = [json.loads(line) for line in (DATA / "plan-cases.jsonl").read_text().splitlines()]
FITS = CASES[0]["plan"] | {"valid_until": "2126-03-08T12:00:00Z"}
"""A plan of members `a` (t-0, t-3) and `b` (t-1, t-2) by instance id."""


@pytest.fixture(scope="module")
def jvm(compiler: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FollowerJvm]:
    """Java's follower."""
    with FollowerJvm(tmp_path_factory.mktemp("follower") / "jvm.log") as running:
        yield running


def group(size: int = 4) -> tuple[dict[str, int], list[dict[str, Any]]]:
    """Topics and members of a group of `a` and `b` that owns nothing yet."""
    members = [{"id": f"{n}-1", "instance_id": n, "topics": ["t"], "owned": []} for n in "ab"]
    return {"t": size}, members


def settings(plan: object, **more: str) -> dict[str, str]:
    """Those of a client of the group `app`."""
    ours = {f"evenkeel.plan.{name.replace('_', '.')}": value for name, value in more.items()}
    return {"group.id": "app", "evenkeel.plan": str(plan), **ours}


BY_PLAN = {"a-1": [["t", 0], ["t", 3]], "b-1": [["t", 1], ["t", 2]]}
BY_RANGE = {"a-1": [["t", 0], ["t", 1]], "b-1": [["t", 2], ["t", 3]]}


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_a_case_is_answered_as_written(jvm: FollowerJvm, case: dict[str, Any]) -> None:
    """Who gets what, what of it first in a cooperative group, and what does not fit, in the same words as Python's."""
    told = jvm.follow(json.dumps(case["plan"]), case)
    assert told["assignment"] == case["expected"]
    assert told["withheld"] == case["withheld"]
    assert told["reasons"] == answered(case)["reasons"]


def test_random_cases_get_the_rules_answers(jvm: FollowerJvm) -> None:
    """500 groups with doubles, claims of two and unequal subscriptions; some plans are late, or for another group."""
    cases = [random_case(seed) for seed in range(500)]
    differing = [c for c in cases if jvm.follow(json.dumps(c["plan"]), c) != answered(c)]
    assert differing == []
    reasons = [" ".join(answered(case)["reasons"]) for case in cases]
    for one in ("expired", "made for group", "not here", "but not in the plan", "are given by"):
        assert sum(one in each for each in reasons) >= 10, one
    assert sum(answered(case)["assignment"] != answered(case)["withheld"] for case in cases) >= 100


BROKEN: dict[str, str | bytes] = {
    "empty": "",
    "half": json.dumps(FITS)[:-20],
    "more behind it": json.dumps(FITS) + "}",
    "no object": "[]",
    "no UTF-8": b'{"schema": "\xff"}',
    "control character": json.dumps(FITS).replace("range", "ra\nnge"),
    "no such escape": json.dumps(FITS).replace("range", "ra\\xnge"),
    "comma at the end": json.dumps(FITS)[:-1] + ",}",
    **{
        f"{key}: {value}": json.dumps(FITS | {key: value})
        for key, value in {
            "schema": "evenkeel-plan/2",
            "fallback": "fair",
            "members": None,
            "valid_until": "2026-03-08T12:00:00",
            "made_at": "soon",
            "topics": None,
        }.items()
    },
    **{
        f"without {key}": json.dumps({k: v for k, v in FITS.items() if k != key})
        for key in ("schema", "group", "members", "made_at", "valid_until", "fallback")
    },
    "twice": json.dumps(FITS | {"members": [{"partitions": {"t": [0]}}] * 2}),
    "twice in one": json.dumps(FITS | {"members": [{"partitions": {"t": [0, 0]}}]}),
    "no numbers": json.dumps(FITS | {"members": [{"partitions": {"t": ["x"]}}]}),
    "no partitions": json.dumps(FITS | {"members": [{}]}),
    "no member": json.dumps(FITS | {"members": ["a"]}),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_python_refuses_java_refuses(jvm: FollowerJvm, name: str) -> None:
    """A plan that was cut off, edited by hand, or written by a later version; what is wrong is said."""
    with pytest.raises(PlanError):
        read_plan(BROKEN[name])
    refused = jvm.follow(BROKEN[name], CASES[0])["refused"]
    assert refused.startswith(
        ("it is no JSON", "its schema is", "it lacks", "its fallback", "it gives t-0")
    )


def test_what_python_reads_java_reads(jvm: FollowerJvm) -> None:
    """A byte order mark, keys of a later version, numbers and escapes of every kind, other time zones."""
    more = {
        "later": [
            {"x": [1.5, -2e9, 12345678901234567890, True, False, None, "\\ü\u0001😀"]},
            {},
            [],
        ]
    }
    text = json.dumps(more | FITS | {"valid_until": "2126-03-08T12:00:00.5+02:00"}, indent=3)
    assert read_plan(b"\xef\xbb\xbf" + text.encode()).group == "app"
    told = jvm.follow(b"\xef\xbb\xbf" + text.encode(), CASES[0])
    assert told["assignment"] == CASES[0]["expected"]


def test_groups_settle_as_planned(jvm: FollowerJvm, tmp_path: Path) -> None:
    """
    Whatever 154 groups own at first, they come to rest with every partition owned once and the plan followed where
    its member is here and no new one got a share; on the way the client's own check finds nothing. What a sticky
    fallback gives does not change with what members claim meanwhile, so it takes three rounds at most.
    """
    for seed in (*range(150), 168, 174, 252, 383):
        rng = Random(seed)
        topics = {"t": rng.randint(4, 30), "u": rng.randint(1, 9)}
        every = [(topic, n) for topic, size in topics.items() for n in range(size)]
        names = [f"{letter}{rng.randint(0, 99)}" for letter in "abcdef"[: rng.randint(1, 6)]]
        entries: dict[str, dict[str, list[int]]] = {name: {} for name in names}
        for topic, number in every:
            entries[names[int(len(names) * rng.random() ** 2)]].setdefault(topic, []).append(number)
        members = [{"instance_id": name, "partitions": own} for name, own in entries.items()]
        fallback = rng.choice(("cooperative-sticky", "sticky", "range", "roundrobin"))
        path = tmp_path / f"{seed}.json"
        path.write_text(json.dumps(FITS | {"members": members, "fallback": fallback}))
        here = [name for name in names if rng.random() < 0.8] or names[:1]
        new = [f"n{number}" for number in range(rng.randint(0, 3))]
        owned: dict[str, list[Any]] = {name: [] for name in [*here, *new]}
        for pair in every:
            for _ in range(rng.choice((0, 1, 1, 1, 2))):
                owned[rng.choice(list(owned))].append(list(pair))
        group = [
            {"id": f"{name}-1", "instance_id": name, "topics": ["t", "u"], "owned": own}
            for name, own in owned.items()
        ]
        told = jvm.settle(settings(path), topics, group)
        owner = {
            (topic, number): member.removesuffix("-1")
            for member, pairs in told["assignment"].items()
            for topic, number in pairs
        }
        assert (seed, sorted(owner)) == (seed, sorted(every))
        assert (seed, told["rounds"]) <= (seed, 3)
        assert sum(map(len, told["assignment"].values())) == len(every)
        for name in here:
            for topic, numbers in entries[name].items():
                assert {owner[topic, n] for n in numbers} <= {name, *new}, seed


@pytest.mark.parametrize("fallback", ["range", "roundrobin", "sticky", "cooperative-sticky"])
def test_the_fallback_decides_where_there_is_no_plan(
    jvm: FollowerJvm, tmp_path: Path, fallback: str
) -> None:
    """What the client's own class would come to; the sticky ones keep what members have."""
    topics, members = group()
    members[0]["owned"] = [["t", 1], ["t", 2], ["t", 3]]
    told = jvm.settle(settings(tmp_path / "none.json", fallback=fallback), topics, members)
    kept = {tuple(pair) for pair in told["assignment"]["a-1"]}
    assert {
        "range": {("t", 0), ("t", 1)},
        "roundrobin": {("t", 0), ("t", 2)},
    }.get(fallback, {("t", 1), ("t", 2)}) == kept


def test_a_reason_is_told_once_until_it_changes(jvm: FollowerJvm, tmp_path: Path) -> None:
    """A file that is missing, comes, expires, and is missing again: four things to tell, in eight rebalances."""
    path, before = tmp_path / "plan.json", len(jvm.warned())

    def twice() -> Any:
        return [
            jvm.settle(settings(path, fallback="range"), *group(), keep="once")["assignment"]
            for _ in range(2)
        ]

    assert twice() == [BY_RANGE] * 2
    path.write_text(json.dumps(FITS))
    assert twice() == [BY_PLAN] * 2
    path.write_text(json.dumps(FITS | {"valid_until": "2026-03-08T12:00:00Z"}))
    assert twice() == [BY_RANGE] * 2
    path.unlink()
    assert twice() == [BY_RANGE] * 2
    missing = (
        f"Group app: no plan can be read from {path} (NoSuchFileException: {path}); range decides"
    )
    late = "Group app: the plan expired at 2026-03-08 12:00:00 UTC; range decides"
    assert jvm.warned()[before:] == [missing, late, missing]


def test_a_file_is_found_by_its_uri(jvm: FollowerJvm, tmp_path: Path) -> None:
    """Of a path with a space, too."""
    path = tmp_path / "the plan.json"
    path.write_text(json.dumps(FITS))
    told = jvm.settle(settings(path.as_uri()), *group())
    assert told["assignment"] == BY_PLAN


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"evenkeel.plan": ""}, "evenkeel.plan is missing: set it to"),
        ({"evenkeel.plan": "topic:"}, "name the topic"),
        ({"evenkeel.plan": "http://kafka.example/p"}, "http://kafka.example/p: who can change"),
        ({"evenkeel.plan": "http://u:hush@1.2.3.4/p?hush"}, "http://1.2.3.4/p: who can change"),
        ({"evenkeel.plan": "http://127.0.0.1.example/p"}, "use https://"),
        ({"evenkeel.plan": "s3://hush@plans/p"}, "s3://plans/p: only paths"),
        ({"evenkeel.plan": "https://u:hush hush@plans/p"}, "no address that can be asked"),
        ({"evenkeel.plan": "file:plan.json"}, "neither a path nor a file: URI"),
        ({"evenkeel.plan.fallback": "fair"}, "it must be one of cooperative-sticky, sticky"),
        ({"evenkeel.plan.timeout.ms": "0"}, "'0'; it must be a number of milliseconds above 0"),
    ],
)
def test_a_wrong_setting_is_refused_at_the_start(
    jvm: FollowerJvm, change: dict[str, str], said: str
) -> None:
    """As those of the client are, with what to do; whatever may be a secret is not in it."""
    refused = jvm.settle(settings("/tmp/plan") | change, *group())["refused"]
    assert said in refused
    assert "hush" not in refused


Answer = Callable[[BaseHTTPRequestHandler], None]


@contextmanager
def served(answer: Answer, tls: ssl.SSLContext | None = None) -> Iterator[str]:
    """An address of this host whose GET requests are answered so, as `127.0.0.1:port`."""

    class Handler(Quiet, BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer(self)

    server = LocalServer(Handler)
    if tls:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    with serving(server):
        yield server.origin.removeprefix("http://")


def gives(status: int, body: bytes = b"", **headers: str) -> Answer:
    """An answer."""

    def answer(to: BaseHTTPRequestHandler) -> None:
        to.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            to.send_header(name, value)
        to.end_headers()
        to.wfile.write(body)

    return answer


def test_an_address_is_asked_with_its_credentials(jvm: FollowerJvm) -> None:
    """They go into a header, the query where it belongs."""
    asked: list[tuple[str, str | None]] = []

    def answer(to: BaseHTTPRequestHandler) -> None:
        asked.append((to.raw_requestline.split()[1].decode(), to.headers["Authorization"]))
        gives(200, json.dumps(FITS).encode())(to)

    with served(answer) as place:
        told = jvm.settle(settings(f"http://me:h%75sh@{place}//plans/app?token=1%202"), *group())
    assert told["assignment"] == BY_PLAN
    assert set(asked) == {("//plans/app?token=1%202", "Basic bWU6aHVzaA==")}


def test_what_an_address_does_instead_is_told_without_secrets(jvm: FollowerJvm) -> None:
    """Errors, a way to elsewhere, an answer that never ends, nobody there: the fallback decides."""
    hanging = threading.Event()

    def hangs(to: BaseHTTPRequestHandler) -> None:
        to.send_response(200)
        to.send_header("Content-Length", "100")
        to.end_headers()
        to.wfile.write(b"{")
        to.wfile.flush()
        hanging.wait(30)

    def reason(place: str, scheme: str = "http") -> str:
        before = len(jvm.warned())
        plan = f"{scheme}://me:hush@{place}/app?token=hush"
        told = jvm.settle(settings(plan, fallback="range", timeout_ms="400"), *group())
        assert told["assignment"] == BY_RANGE
        (warned,) = jvm.warned()[before:]
        assert "hush" not in warned
        return warned.removeprefix(f"Group app: no plan can be read from {scheme}://{place}/app ")

    with served(gives(404, b"hush")) as place:
        assert reason(place) == "(it answers with status 404); range decides"
    with served(gives(302, Location="http://elsewhere.example/?hush")) as place:
        assert reason(place) == "(it answers with status 302); range decides"
    with served(gives(200, b"<html>")) as place:
        assert reason(place).startswith("(it is no JSON: a value is missing at character 0)")
    with served(hangs) as place:
        assert "no answer within 400 ms" in reason(place) or "Read timed out" in reason(place)
        hanging.set()
    assert reason(place).startswith("(ConnectException: ")


@contextmanager
def served_by_tls(authority: Authority) -> Iterator[str]:
    """An https address that has the plan, of a certificate that this authority has signed."""
    certificate, key = authority.issue("plans", address="127.0.0.1")
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate, key)
    with served(gives(200, json.dumps(FITS).encode()), tls) as place:
        yield f"https://{place}/app.json"


def test_a_certificate_that_nobody_vouches_for_is_refused(jvm: FollowerJvm, tmp_path: Path) -> None:
    """As Java's own trust store has it: no plan comes from there."""
    before = len(jvm.warned())
    with served_by_tls(Authority(tmp_path)) as address:
        told = jvm.settle(settings(address, fallback="range"), *group())
    assert told["assignment"] == BY_RANGE
    (warned,) = jvm.warned()[before:]
    assert f"{address} (SSLHandshakeException: " in warned


def test_a_certificate_that_java_trusts_will_do(jvm: FollowerJvm, tmp_path: Path) -> None:
    """What the trust store of the application holds, set as for anything in Java."""
    authority = Authority(tmp_path)
    trusted = PKCS12Certificate(x509.load_pem_x509_certificate(authority.ca.read_bytes()), b"ca")
    store = tmp_path / "trusted.p12"
    password = serialization.BestAvailableEncryption(b"changeit")
    store.write_bytes(serialize_java_truststore([trusted], password))
    options = (f"-Djavax.net.ssl.trustStore={store}", "-Djavax.net.ssl.trustStorePassword=changeit")
    with served_by_tls(authority) as address, FollowerJvm(tmp_path / "log", *options) as trusting:
        told = trusting.settle(settings(address), *group())
    assert told["assignment"] == BY_PLAN


def test_members_tell_and_leaders_read_addresses(jvm: FollowerJvm, tmp_path: Path) -> None:
    """A member without instance id is known by the client id in its member id, and by what it sent along."""
    host = {"client_id": "c-1", "host": "/10.0.0.7", "partitions": {"t": [3]}}
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(FITS | {"members": [host]}))
    uuid = "4b1d3c52-9f0e-4f5b-8c60-0123456789ab"
    sent = '{"evenkeel": 1, "addresses": ["10.0.0.7", "::1"]}'
    members = [
        {"id": f"c-1-{uuid}", "topics": ["t"], "owned": [], "user_data": sent},
        {"id": f"b-{uuid}", "topics": ["t"], "owned": [], "user_data": "no JSON"},
    ]
    before = len(jvm.warned())
    told = jvm.settle(settings(path), {"t": 4}, members)
    assert ["t", 3] in told["assignment"][f"c-1-{uuid}"]
    assert f"Group app: here, but not in the plan: b-{uuid}" in jvm.warned()[before:]


def test_each_member_is_told_what_is_followed(jvm: FollowerJvm, tmp_path: Path) -> None:
    """By which strategy the plan was made and when, as Python reads it; and who sends a token gets it back."""
    path = tmp_path / "plan.json"
    path.write_text(
        json.dumps(FITS | {"strategy": "balanced", "made_at": "2026-03-01T12:00:00.9Z"})
    )
    topics, members = group()
    members[0]["user_data"] = '{"evenkeel": 1, "addresses": [], "token": "\u00fc7"}'
    told = jvm.settle(settings(path), topics, members)["told"]
    follows = {"evenkeel": 1, "follows": "balanced", "made_at": "2026-03-01T12:00:00Z"}
    assert json.loads(told["b-1"]) == follows
    assert json.loads(told["a-1"]) == follows | {"token": "\u00fc7", "member_id": "a-1"}
    told = jvm.settle(settings(tmp_path / "none"), *group())["told"]
    assert json.loads(told["a-1"]) == {"evenkeel": 1, "follows": None}


def test_of_two_claims_the_newer_is_believed(jvm: FollowerJvm, tmp_path: Path) -> None:
    """The other waits for it as for any owner, though the partition is to be its own, and though it claims it."""
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(FITS))
    topics, members = group()
    members[0] |= {"owned": [["t", 0], ["t", 3]], "generation": 4}
    members[1] |= {"owned": [["t", 0], ["t", 1]], "generation": 5}
    told = jvm.settle(settings(path), topics, members)
    assert told["first"] == {"a-1": [["t", 3]], "b-1": [["t", 1], ["t", 2]]}
    assert told["assignment"] == BY_PLAN


def test_who_claims_what_it_lost_keeps_it_where_nobody_has_it(
    jvm: FollowerJvm, tmp_path: Path
) -> None:
    """
    Of a member that came back under another id: nobody could give it up, and the client's check takes it for true. What
    another has meanwhile is that one's.
    """
    path, before = tmp_path / "plan.json", len(jvm.warned())
    path.write_text(json.dumps(FITS))
    topics, members = group()
    lost = '{"evenkeel": 1, "addresses": [], "token": "x", "member_id": "a-0"}'
    members[0] |= {"owned": [["t", 0], ["t", 1], ["t", 2]], "user_data": lost}
    members[1] |= {"owned": [["t", 2]]}
    told = jvm.settle(settings(path), topics, members)
    assert told["assignment"] == {"a-1": [["t", 0], ["t", 1], ["t", 3]], "b-1": [["t", 2]]}
    assert any("they keep what they have lost: a-1" in line for line in jvm.warned()[before:])


def test_what_an_eager_member_had_is_kept(jvm: FollowerJvm, tmp_path: Path) -> None:
    """It tells sticky, and of two members that the plan cannot tell apart which is which; it withholds nothing."""
    uuid = "4b1d3c52-9f0e-4f5b-8c60-0123456789a"

    def member(number: int, *had: int) -> dict[str, Any]:
        sent = {"evenkeel": 1, "addresses": ["10.0.0.7"], "had": {"t": had}}
        return {
            "id": f"c-{uuid}{number}",
            "topics": ["t"],
            "owned": [],
            "user_data": json.dumps(sent),
        }

    members = [member(1, 1, 3), member(2, 0, 2)]
    given = {f"c-{uuid}1": [["t", 1], ["t", 3]], f"c-{uuid}2": [["t", 0], ["t", 2]]}
    told = jvm.settle(settings(tmp_path / "none"), {"t": 4}, members)
    assert (told["rounds"], told["assignment"]) == (1, given)
    same = {"client_id": "c", "host": "10.0.0.7"}
    entries = [same | {"partitions": {"t": [0, 1, 2]}}, same | {"partitions": {"t": [3]}}]
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(FITS | {"members": entries}))
    told = jvm.settle(settings(path), {"t": 4}, members)
    assert told["assignment"][f"c-{uuid}1"] == [["t", 3]]


KAFKAS = "org.apache.kafka.clients.consumer."


@pytest.mark.parametrize(
    ("others", "had"),
    [
        ([], None),
        (["CooperativeStickyAssignor"], None),
        (["RangeAssignor"], {"t": [2, 0], "u": [1]}),
        (["RangeAssignor", "CooperativeStickyAssignor"], {"t": [2, 0], "u": [1]}),
    ],
)
def test_a_member_of_an_eager_group_tells_what_it_had(
    jvm: FollowerJvm, others: list[str], had: dict[str, list[int]] | None
) -> None:
    """Eager is a group in which a strategy is listed, too, that knows no other way; else its claims say it."""
    listed = ["io.evenkeel.EvenkeelPlanAssignor", *(KAFKAS + name for name in others)]
    given = [["t", 2], ["u", 1], ["t", 0]]
    strategies = {"partition.assignment.strategy": ", ".join(listed)}
    sent = jvm.joins(settings("/tmp/plan", address="10.0.0.7, ::1") | strategies, given)
    assert sent.pop("addresses") == ["10.0.0.7", "0:0:0:0:0:0:0:1"]
    assert sent == {"evenkeel": 1} | ({"had": had} if had else {})


def test_addresses_are_those_of_the_host(jvm: FollowerJvm) -> None:
    """Unless they are configured; written as brokers write them."""
    assert "127.0.0.1" in jvm.joins(settings("/tmp/plan"), [])["addresses"]


def test_nobody_writes_lines_into_the_log(jvm: FollowerJvm, tmp_path: Path) -> None:
    """Names are others': none begins a line, turns its direction or is an escape, and a long list of them ends."""
    path, before = tmp_path / "plan.json", len(jvm.warned())
    entries = [
        {"instance_id": f"{n:04}\nWARN Group\u202e\u009bx", "partitions": {}} for n in range(500)
    ]
    path.write_text(json.dumps(FITS | {"members": entries}))
    jvm.settle(settings(path), *group())
    warned = [line for line in jvm.warned()[before:] if "not here" in line]
    assert len(warned) == 1
    assert "0001 WARN Group  x, 0002" in warned[0]
    assert len(warned[0]) < 1100
