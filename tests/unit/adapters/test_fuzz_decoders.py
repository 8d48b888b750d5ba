"""
What strangers send and what files hold, damaged in any way: nothing comes of it but a value or an error that we know.

`make test-nightly` looks at far more of it than the others do, for minutes.
"""

from __future__ import annotations

import io
import json
import struct
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kafka.protocol.admin import DescribeGroupsResponse

from evenkeel.engine import wiring
from evenkeel.engine.adapters.kafka.decode import (
    BlobError,
    read_assignment,
    read_streams_client,
    read_streams_tasks,
    read_subscription,
)
from evenkeel.engine.adapters.kafka.groups import Group
from evenkeel.engine.adapters.kafka.members import MemberReader
from evenkeel.engine.adapters.recording import Recording, open_recording, write_recording
from evenkeel.engine.cli.lag_rows import measured
from evenkeel.engine.cli.local_mode import judge
from evenkeel.engine.cli.sources import from_lake
from evenkeel.engine.config import Filter, Settings
from evenkeel.engine.followers.plan import Plan, PlanError, PlannedMember, PlannedTopic, read_plan
from evenkeel.engine.followers.rule import Present, follow
from evenkeel.engine.followers.user_data import addresses_of, followed_of
from evenkeel.engine.model.errors import EvenkeelError, LakeError
from evenkeel.engine.model.states import STREAMS_PROTOCOL, GroupType
from evenkeel.engine.model.tables import Table
from evenkeel.engine.pipeline.backtest import backtest
from evenkeel.engine.snapshots import SNAPSHOT, facts_of
from tests.conftest import EXAMPLES
from tests.helpers.snapshots import group, make_snapshot, topic
from tests.unit.adapters.test_kafka_decode import STREAMS_ASSIGNMENT, STREAMS_SUBSCRIPTION
from tests.unit.adapters.test_kafka_members import assignment, metadata

# thousands of cases take a while on a machine that is busy
pytestmark = pytest.mark.timeout(3600)

NIGHTLY = settings().max_examples >= EXAMPLES["nightly"]

FOLLOWER = b'{"evenkeel": 1, "follows": "balanced", "addresses": ["10.0.0.1"]}'
SUBSCRIPTION, ASSIGNMENT = (
    metadata(user_data=FOLLOWER),
    assignment(FOLLOWER, orders=[0, 3], pay=[1]),
)
NUMBERS = (-(2**31), -2, -1, 0, 1, 255, 2**31 - 1)


def fuzz(times: int) -> Callable[[Any], Any]:
    """So many times the cases of a profile in the nightly tests, those of the profile else."""
    return settings(max_examples=settings().max_examples * (times if NIGHTLY else 1))


@st.composite
def damaged(draw: st.DrawFn, whole: bytes) -> bytes:
    """Some bytes with others in their places, cut off, left out, or repeated."""
    data = bytearray(whole)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(data)))
        match draw(st.sampled_from(("byte", "number", "insert", "remove", "repeat", "cut"))):
            case "byte":
                data[at : at + 1] = draw(st.binary(min_size=1, max_size=1))
            case "number":
                data[at : at + 4] = struct.pack(">i", draw(st.sampled_from(NUMBERS)))
            case "insert":
                data[at:at] = draw(st.binary(max_size=8))
            case "remove":
                del data[at : at + draw(st.integers(1, 8))]
            case "repeat":
                data[at:at] = data[at : at + 16]
            case "cut":
                del data[at:]
    return bytes(data)


def odd_bytes(*whole: bytes) -> st.SearchStrategy[bytes]:
    """Bytes of any kind, or nearly these."""
    return st.binary(max_size=80) | st.sampled_from(whole).flatmap(damaged)


ODD = (
    st.none()
    | st.booleans()
    | st.sampled_from((*NUMBERS, 2**63, 10**400, 0.5, float("nan"), float("inf"), -0.0))
    | st.sampled_from(
        ("", "\0", "x" * 300, "9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00+23:59")
    )
    | st.text(max_size=4)
    | st.builds(list)
    | st.builds(dict)
    | st.lists(st.builds(list), max_size=2)
)


@st.composite
def odd_json(draw: st.DrawFn, whole: Any) -> Any:
    """A JSON value in which something is another, is missing, or is there twice."""
    value = json.loads(json.dumps(whole))
    for _ in range(draw(st.integers(1, 3))):
        above, key, at = None, None, value
        while isinstance(at, dict | list) and at and draw(st.integers(0, 5)):
            above, key = (
                at,
                draw(st.sampled_from([*at] if isinstance(at, dict) else range(len(at)))),
            )
            at = above[key]
        if above is None:
            return draw(ODD)
        match draw(st.sampled_from(("change", "change", "remove", "repeat"))):
            case "change":
                above[key] = draw(ODD)
            case "remove":
                del above[key]
            case "repeat" if isinstance(above, list):
                above.append(at)
    return value


def ended(call: Callable[[Any], Any], given: Any, error: type[Exception]) -> tuple[Any, str]:
    """What a call makes of something, and the line by which it refuses it; all other errors are raised."""
    try:
        return call(given), ""
    except error as problem:
        said = str(problem) or "?"
    assert "\n" not in said
    return None, said


DECODERS = (read_subscription, read_assignment, read_streams_client, read_streams_tasks)


@fuzz(20)
@given(odd_bytes(SUBSCRIPTION, ASSIGNMENT, STREAMS_SUBSCRIPTION, STREAMS_ASSIGNMENT))
def test_blobs_give_values_or_a_blob_error(blob: bytes) -> None:
    """Subscriptions, assignments and the data of Kafka Streams in them."""
    for decode in DECODERS:
        ended(decode, blob, BlobError)


@fuzz(20)
@given(odd_bytes(FOLLOWER) | odd_json(json.loads(FOLLOWER)).map(lambda j: json.dumps(j).encode()))
def test_user_data_says_something_or_nothing(blob: bytes) -> None:
    """Of a follower, or of anybody."""
    assert isinstance(followed_of(blob), str | None)
    assert all(isinstance(one, str) for one in addresses_of(blob))


@fuzz(20)
@given(
    odd_bytes(SUBSCRIPTION, metadata(user_data=STREAMS_SUBSCRIPTION)),
    odd_bytes(ASSIGNMENT, assignment(STREAMS_ASSIGNMENT, orders=[1])),
    st.sampled_from(("range", STREAMS_PROTOCOL, "evenkeel-plan", "own", "")),
)
def test_members_become_rows_and_their_group_says_what_is_wrong(
    said: bytes, owns: bytes, protocol: str
) -> None:
    """Rows that the lake takes, without a partition that no topic has; the member beside it is read."""
    described = DescribeGroupsResponse.DescribedGroup
    members = [
        described.DescribedGroupMember(
            member_id=name,
            group_instance_id=None,
            client_id="client",
            client_host="/10.0.0.1",
            member_metadata=one,
            member_assignment=other,
        )
        for name, one, other in (("odd", said, owns), ("good", metadata(), assignment(orders=[3])))
    ]
    whole = described(
        group_id="app", protocol_type="consumer", protocol_data=protocol, members=members
    )
    one = Group("app", GroupType.CLASSIC, "Stable", "consumer", 1, whole)
    odd, good = MemberReader({"orders": 4, "pay": 2}, Filter(), lambda *_: None).rows(one)
    key = {"snapshot_id": "s", "cluster": "c"}
    Table.from_rows([key | odd, key | good], SNAPSHOT["members"])
    assert good["assigned_partitions"] == [3]
    assert min(odd.get("assigned_partitions") or (0,)) >= 0
    assert all(error.startswith("member odd cannot be decoded: ") for error in one.errors)


AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
PLAN = Plan(
    group="app",
    members=(
        PlannedMember(instance_id="a", partitions={"orders": (0, 3)}),
        PlannedMember(client_id="c", host="10.0.0.1", member_id="c-1", partitions={"pay": (1,)}),
    ),
    made_at=AT,
    valid_until=AT.replace(day=8),
    fallback="range",
    strategy="balanced",
    topics={"orders": PlannedTopic(id=None, partitions=4)},
)
PRESENT = (
    Present(member_id="a-1", topics=("orders",), instance_id="a"),
    Present(member_id="c-1", topics=("orders", "pay"), client_id="c", addresses=("10.0.0.1",)),
)


@fuzz(20)
@given(
    odd_json(json.loads(PLAN.to_json())).map(json.dumps)
    | st.just(PLAN.to_json().encode()).flatmap(damaged)
    | st.sampled_from(("[" * 100_000, '{"a":' * 100_000))
)
def test_a_plan_is_read_and_can_be_followed_or_is_refused(text: str | bytes) -> None:
    """Every partition has one owner then, whatever the plan says."""
    plan, refused = ended(read_plan, text, PlanError)
    if refused:
        return
    usual = {"a-1": [("orders", 0), ("orders", 1)], "c-1": [("orders", 2), ("pay", 0), ("pay", 1)]}
    followed = follow(plan, "app", AT, PRESENT, usual)
    given = sorted(pair for own in followed.assignment.values() for pair in own)
    assert given == sorted(pair for own in usual.values() for pair in own)
    assert read_plan(plan.to_json()) == plan


@cache
def _recorded() -> dict[str, bytes]:
    """The parts of a recording of two snapshots."""
    lake = Recording()
    whole = [
        make_snapshot(
            number=number,
            topics=[topic("orders", 3, end=1000 + 300 * number)],
            groups=[group("app", members=2, lag={"orders": [0, 50, 5]}), group("b", members=1)],
        )
        for number in range(2)
    ]
    more = {
        "problems": ["odd"],
        "notes": [],
        "listings": [{"groups": "a*", "assignors": ["range"]}],
    }
    for one in whole:
        lake.write("snapshot", one.snapshot_id, one.tables, facts_of(one) | more)
    with TemporaryDirectory() as folder:
        write_recording(Path(folder, "kept"), lake, lake.snapshot_ids)
        with zipfile.ZipFile(Path(folder, "kept")) as archive:
            return {name: archive.read(name) for name in archive.namelist()}


def _values(kind: pa.DataType) -> st.SearchStrategy[Any]:
    if pa.types.is_list(kind):
        return st.none() | st.lists(_values(kind.value_type), max_size=3)
    if pa.types.is_timestamp(kind):
        return st.none() | st.sampled_from((-(2**62), -1, 0, 2**62))
    if pa.types.is_integer(kind):
        largest = 2 ** (kind.bit_width - 1)
        return st.none() | st.sampled_from((-largest, -1, 0, 1, 2, largest - 1))
    if pa.types.is_boolean(kind):
        return st.none() | st.booleans()
    if pa.types.is_binary(kind):
        return st.none() | st.binary(max_size=4)
    texts = ("", "\0", "app", "orders", "streams", "stream", "{", "9" * 300)
    return st.none() | st.sampled_from(texts)


@st.composite
def _odd_part(draw: st.DrawFn) -> tuple[str, bytes]:
    """A part of the recording in which something is wrong: in its bytes, its columns, its rows or its values."""
    name = draw(st.sampled_from(sorted(_recorded())))
    whole = _recorded()[name]
    how = draw(st.sampled_from(("bytes", "values", "values", "values", "rows", "type", "columns")))
    if how == "bytes":
        return name, draw(damaged(whole))
    if name == "recording.json":
        return name, json.dumps(draw(odd_json(json.loads(whole)))).encode()
    table = pq.read_table(io.BytesIO(whole))
    number = draw(st.integers(0, table.num_columns - 1))
    field = table.schema.field(number)
    match how:
        case "values":
            values = table[field.name].to_pylist()
            for at in draw(st.sets(st.integers(0, max(len(values) - 1, 0)), max_size=4)):
                values[at : at + 1] = [draw(_values(field.type))]
            table = table.set_column(number, field, pa.array(values[: len(table)], field.type))
        case "rows":
            rows = draw(st.lists(st.integers(0, len(table) - 1), max_size=6))
            table = table.take(pa.array(rows, pa.int64()))
        case "type":
            kind = draw(
                st.sampled_from((pa.string(), pa.int64(), pa.float64(), pa.list_(pa.int32())))
            )
            table = table.set_column(number, field.name, pa.nulls(len(table), kind))
        case "columns":
            table = table.remove_column(number)
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return name, sink.getvalue()


@pytest.mark.slow
@fuzz(4)
@given(st.lists(_odd_part(), min_size=1, max_size=2))
def test_a_recording_is_read_whole_or_refused_in_a_sentence(parts: list[tuple[str, bytes]]) -> None:
    """Exit code 4, or nothing that could be shown; else lag and advice are there."""
    with TemporaryDirectory() as folder:
        with zipfile.ZipFile(Path(folder, "odd"), "w") as archive:
            for name, content in (_recorded() | dict(parts)).items():
                archive.writestr(name, content)
        lake, refused = ended(open_recording, Path(folder, "odd"), LakeError)
    if refused:
        return
    # no snapshot may be in it, or those of several clusters
    source, refused = ended(
        lambda lake: from_lake(Settings(), lake, None, "odd"), lake, EvenkeelError
    )
    if not refused:
        measured(source, "*")
        judge(source)
        list(backtest(source.lake, wiring.scratch_history(), source.settings, source.cluster))
