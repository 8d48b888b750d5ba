"""
Expectations of a snapshot.

An invalid or missing row skips its group, so that other groups are still evaluated. The whole snapshot is rejected only
if none of it can be trusted: brokers, ids, row counts of its manifest.
"""

from __future__ import annotations

from collections.abc import Mapping

import great_expectations as gx
import great_expectations.expectations as gxe
from great_expectations.expectations.row_conditions import Column

from evenkeel.engine.model.states import GroupType
from evenkeel.engine.records import CommitRow, PartitionRow
from evenkeel.expectations.ranges import in_range
from evenkeel.expectations.suite import expect, present, unique, whole

STATES = (
    "Stable",
    "Empty",
    "Dead",
    "PreparingRebalance",
    "CompletingRebalance",
    "Assigning",
    "Reconciling",
    "NotReady",
)
"""Group states of all protocols (KIP-848, KIP-932, KIP-1071 included)."""

TYPES = tuple(kind.value for kind in GroupType)

SHARE = GroupType.SHARE.value
"""Group types whose members may share partitions."""


def build_suites(snapshot_id: str, rows: Mapping[str, int]) -> dict[str, gx.ExpectationSuite]:
    """
    The suites of a snapshot, by name of their frame.

    Args:
        snapshot_id: Id of the snapshot.
        rows: Number of rows of each dataset in the manifest.
    """
    complete = {name: whole(count, snapshot_id) for name, count in rows.items()}
    by_frame = {
        "reading": _reading(),
        "brokers": complete["brokers"] + _brokers(),
        "groups": complete["groups"] + _groups(),
        "members": complete["members"] + _members(),
        "partitions": complete["partitions"] + _partitions(),
        "commits": complete["commits"] + _commits(),
        "assignments": _assignments(),
        "subscriptions": _subscriptions(),
    }
    return {
        name: gx.ExpectationSuite(name=name, expectations=expectations)
        for name, expectations in by_frame.items()
    }


def _reading() -> list[gxe.Expectation]:
    def moment(column: str) -> gxe.Expectation:
        return present(
            column,
            f"{column} is a moment with a time zone.",
            f"{column} is missing or has no time zone",
            rejects=True,
        )

    return [
        moment("started_at"),
        moment("finished_at"),
        expect(
            gxe.ExpectColumnPairValuesAToBeGreaterThanB,
            "It finished after it started.",
            "it finished before it started",
            "{started_at} to {finished_at}",
            rejects=True,
            column_A="finished_at",
            column_B="started_at",
            or_equal=True,
            ignore_row_if="either_value_is_missing",
        ),
    ]


def _brokers() -> list[gxe.Expectation]:
    return [
        expect(
            gxe.ExpectTableRowCountToBeBetween,
            "There is at least one broker.",
            "there is no broker",
            rejects=True,
            min_value=1,
        ),
        present(
            "node_id",
            "Every broker has an id.",
            "a broker has no id",
            "{host}:{port}",
            rejects=True,
        ),
        expect(
            gxe.ExpectColumnValuesToBeUnique,
            "No two brokers have the same id.",
            "two brokers have the same id",
            "{node_id} at {host}:{port}",
            rejects=True,
            column="node_id",
        ),
    ]


def _groups() -> list[gxe.Expectation]:
    return [
        present(
            "group_id",
            "Every group has an id.",
            "a group has no id",
            rejects=True,
        ),
        expect(
            gxe.ExpectColumnValuesToBeUnique,
            "No group is listed twice.",
            "a group is listed twice",
            "{group_id} ({group_type}, {state})",
            rejects=True,
            column="group_id",
        ),
        expect(
            gxe.ExpectColumnValuesToBeNull,
            "The group could be read.",
            "could not be read",
            "{error}",
            column="error",
        ),
        present(
            "state",
            "A readable group has a state.",
            "there is neither a state nor an error",
            row_condition=Column("error").is_null(),
        ),
        expect(
            gxe.ExpectColumnValuesToBeInSet,
            "The state of the group is a known value.",
            "the state is not a known value",
            "{state}",
            column="state",
            value_set=list(STATES),
        ),
        expect(
            gxe.ExpectColumnValuesToBeInSet,
            "The type of the group is a known value.",
            "the type is not a known value",
            "{group_type}",
            column="group_type",
            value_set=list(TYPES),
        ),
    ]


def _members() -> list[gxe.Expectation]:
    return [
        _listed("member", "{member_id} of {group_id}"),
        present(
            "member_id",
            "Every member has an id.",
            "a member has no id",
            "client {client_id} at position {position}",
        ),
        unique(
            "No member is listed twice.",
            "a member is listed twice",
            "{member_id}",
            ["group_id", "member_id"],
        ),
        _alike(
            "position",
            "place",
            "Positions of members start at 0 and have no gaps.",
            "a member row is missing or duplicated",
            "{member_id} at position {position}",
        ),
        *(
            _alike(
                f"{which}_topics_listed",
                f"{which}_partitions_listed",
                f"{which.title()} topics and partitions are pairs.",
                "an assignment has a different number of topics and partitions",
                "{member_id}",
            )
            for which in ("assigned", "target")
        ),
    ]


def _partitions() -> list[gxe.Expectation]:
    return [
        *(_key_part("partition", column) for column in ("topic", "partition")),
        expect(
            gxe.ExpectCompoundColumnsToBeUnique,
            "No partition is listed twice.",
            "a partition is listed twice",
            "{topic}-{partition}",
            rejects=True,
            column_list=["topic", "partition"],
        ),
        _alike(
            "partition",
            "place",
            "Partitions of a topic start at 0 and have no gaps.",
            "a partition row is missing",
            "{topic} has a partition {partition}",
        ),
        *(
            in_range(PartitionRow, column, "{topic}-{partition} at {" + column + "}")
            for column in ("begin_offset", "end_offset", "last_stable_offset")
        ),
        _not_above("begin_offset", "end_offset"),
        _not_above("last_stable_offset", "end_offset"),
        present(
            "end_offset",
            "A partition without an end offset has an error.",
            "an end offset is unknown without an error",
            "{topic}-{partition}",
            severity="warning",
            row_condition=Column("error").is_null(),
        ),
        expect(
            gxe.ExpectColumnValuesToBeNull,
            "The offsets of the partition could be read.",
            "offsets could not be read",
            "{topic}-{partition}: {error}",
            severity="warning",
            column="error",
        ),
    ]


def _commits() -> list[gxe.Expectation]:
    partition = "{topic}-{partition}"
    return [
        _listed("commit", partition + " of {group_id}"),
        *(_key_part("commit", column) for column in ("topic", "partition")),
        expect(
            gxe.ExpectCompoundColumnsToBeUnique,
            "A partition has one commit.",
            "a partition has more than one commit",
            partition + " at {committed_offset}",
            column_list=["group_id", "topic", "partition"],
        ),
        expect(
            gxe.ExpectColumnValuesToBeNull,
            "The commit could be read.",
            "a commit could not be read",
            partition + ": {error}",
            column="error",
        ),
        in_range(CommitRow, "committed_offset", partition + " at {committed_offset}"),
        in_range(CommitRow, "reported_lag", partition + ": {reported_lag}"),
        present(
            "partition_row",
            "A committed partition exists.",
            "a commit belongs to a partition that does not exist",
            partition,
            severity="warning",
            row_condition=Column("topic_row").is_not_null() & Column("partition").is_not_null(),
        ),
        present(
            "topic_row",
            "A committed topic exists.",
            "a commit belongs to a topic that does not exist",
            "{topic}",
            severity="info",
        ),
    ]


def _assignments() -> list[gxe.Expectation]:
    return [
        present(
            "partition_row",
            "An assigned partition was read.",
            "a member owns a partition that was not read",
            "{topic}-{partition} of {member_id}",
        ),
        unique(
            "A partition of a stable group has one owner.",
            "a partition has two owners although the group is stable",
            "{topic}-{partition} of {member_id}",
            ["group_id", "topic", "partition"],
            row_condition=(Column("state") == "Stable") & (Column("group_type") != SHARE),
        ),
    ]


def _subscriptions() -> list[gxe.Expectation]:
    return [
        present(
            "topic_row",
            "A subscribed topic exists.",
            "a member subscribes to a topic that does not exist",
            "{topic}",
            severity="warning",
        )
    ]


def _listed(what: str, example: str) -> gxe.Expectation:
    return present(
        "group_row",
        f"Every {what} belongs to a listed group.",
        f"a {what} belongs to a group that is not listed",
        example,
        rejects=True,
    )


def _alike(
    column: str, expected: str, description: str, problem: str, example: str
) -> gxe.Expectation:
    return expect(
        gxe.ExpectColumnPairValuesToBeEqual,
        description,
        problem,
        example,
        column_A=column,
        column_B=expected,
    )


def _key_part(what: str, column: str) -> gxe.Expectation:
    return present(
        column,
        f"Every {what} row has a {column}.",
        f"a {what} row has no {column}",
        "{topic}-{partition}",
        rejects=what == "partition",
    )


def _not_above(lower: str, upper: str) -> gxe.Expectation:
    return expect(
        gxe.ExpectColumnPairValuesAToBeGreaterThanB,
        f"{lower} is not above {upper}.",
        f"{lower} is above {upper}",
        "{topic}-{partition}: {" + lower + "} above {" + upper + "}",
        column_A=upper,
        column_B=lower,
        or_equal=True,
        ignore_row_if="either_value_is_missing",
    )
