"""
Expectations of metrics: every group is measured once, and every number is possible.

A group with an impossible number is shown as unknown and gets no advice; other groups continue.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import great_expectations as gx
import great_expectations.expectations as gxe

from evenkeel.engine.model.tables import TEXT, Table, column
from evenkeel.engine.snapshots import RECORDS
from evenkeel.expectations.columns import row_in, times
from evenkeel.expectations.frames import Frame
from evenkeel.expectations.ranges import UNSOUND, ranges, unsound
from evenkeel.expectations.suite import expect, present, unique, whole

PARTITION = "{topic}-{partition}"


def metric_frames(measured: Mapping[str, Table], groups: Sequence[str]) -> dict[str, Frame]:
    """
    The frames of the metrics of a snapshot, by name.

    Args:
        measured: The datasets.
        groups: Ids of the groups of the snapshot.
    """
    of_snapshot = column(groups, TEXT)
    names = measured["group_metrics"]["group_id"]
    rows = times(row_in(names, of_snapshot), len(groups))
    once = Table({"group_id": of_snapshot, "rows": rows})
    refers = {
        "group_metrics": of_snapshot,
        "member_metrics": names,
        "partition_metrics": names,
        "rebalances": names,
    }
    frames = [
        Frame(
            name=name,
            table=table.replaced(
                group_row=row_in(table["group_id"], refers[name]),
                **{UNSOUND: unsound(table, RECORDS["metrics"][name])},
            ),
        )
        for name, table in measured.items()
    ]
    return {frame.name: frame for frame in [Frame(name="measured", table=once), *frames]}


def build_suites(snapshot_id: str, rows: Mapping[str, int]) -> dict[str, gx.ExpectationSuite]:
    """
    The suites of metrics, by name of their frame.

    Args:
        snapshot_id: Id of the snapshot.
        rows: Number of rows of each dataset in the manifest.
    """
    of_dataset = {
        "group_metrics": (_groups(), "the group"),
        "member_metrics": (_members(), "{member_id}"),
        "partition_metrics": (_partitions(), PARTITION),
        "rebalances": ([], "{cause}"),
    }
    suites = {
        name: [
            *whole(rows[name], snapshot_id),
            *own,
            *ranges(RECORDS["metrics"][name], example),
        ]
        for name, (own, example) in of_dataset.items()
    }
    return {
        name: gx.ExpectationSuite(name=name, expectations=expectations)
        for name, expectations in {"measured": [_once()], **suites}.items()
    }


def _once() -> gxe.Expectation:
    return expect(
        gxe.ExpectColumnValuesToBeInSet,
        "Every group is measured once.",
        "a group was measured more than once, or not at all",
        "{rows} rows",
        severity="warning",
        column="rows",
        value_set=[1],
    )


def _groups() -> list[gxe.Expectation]:
    return [
        _listed(
            "row belongs to a group of the snapshot",
            "row belongs to a group that is not in the snapshot",
        ),
        expect(
            gxe.ExpectColumnValuesToBeUnique,
            "No group is measured twice.",
            "a group is measured twice",
            "{group_id}",
            column="group_id",
        ),
    ]


def _members() -> list[gxe.Expectation]:
    return [
        _listed("member belongs to a measured group", "member belongs to a group without metrics"),
        _unique("member", "{member_id}", ["group_id", "member_id"]),
    ]


def _partitions() -> list[gxe.Expectation]:
    return [
        _listed(
            "partition belongs to a measured group", "partition belongs to a group without metrics"
        ),
        _unique("partition", PARTITION, ["group_id", "topic", "partition"]),
    ]


def _listed(description: str, problem: str) -> gxe.Expectation:
    return present("group_row", f"Every {description}.", f"a {problem}", "{group_id}", rejects=True)


def _unique(what: str, example: str, columns: list[str]) -> gxe.Expectation:
    return unique(f"No {what} is measured twice.", f"a {what} is measured twice", example, columns)
