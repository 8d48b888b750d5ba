"""Expectations with a description and the text of a failure."""

from __future__ import annotations

from typing import Any, Literal

import great_expectations.expectations as gxe

Severity = Literal["critical", "warning", "info"]


def expect(
    kind: type[gxe.Expectation],
    description: str,
    problem: str,
    example: str = "",
    *,
    severity: Severity = "critical",
    rejects: bool = False,
    **arguments: Any,
) -> gxe.Expectation:
    """
    An expectation with its texts.

    Args:
        kind: A class of Great Expectations.
        description: The expected condition; its name in the history database.
        problem: The text of a failure.
        example: The text of a failed row, a format string over its columns.
        severity: `critical` skips the group (or rejects the snapshot), the others are only recorded.
        rejects: Whether a failure rejects the whole snapshot instead of its group.
        arguments: Arguments of the class.
    """
    words = {"problem": problem, "example": example, "rejects": rejects}
    return kind(description=description, severity=severity, meta=words, **arguments)


def present(
    column: str, description: str, problem: str, example: str = "", **arguments: Any
) -> gxe.Expectation:
    """Expect a value in every row; for a column of `row_in`, expect that the referenced row exists."""
    return expect(
        gxe.ExpectColumnValuesToNotBeNull,
        description,
        problem,
        example,
        column=column,
        **arguments,
    )


def whole(rows: int, snapshot_id: str) -> list[gxe.Expectation]:
    """Expectations of every dataset of a snapshot: all of its rows, and no others."""
    return [
        expect(
            gxe.ExpectTableRowCountToEqual,
            "It has the number of rows of its manifest.",
            f"the manifest says {rows} rows, the table has {{observed}}",
            rejects=True,
            value=rows,
        ),
        expect(
            gxe.ExpectColumnValuesToBeInSet,
            "Its rows belong to this snapshot.",
            "a row belongs to another snapshot",
            "{snapshot_id}",
            rejects=True,
            column="snapshot_id",
            value_set=[snapshot_id],
        ),
        present(
            "snapshot_id",
            "Its rows have a snapshot id.",
            "a row has no snapshot id",
            rejects=True,
        ),
    ]


def unique(
    description: str, problem: str, example: str, columns: list[str], **arguments: Any
) -> gxe.Expectation:
    """Expect unique values of some columns together; rows with a null are not compared."""
    return expect(
        gxe.ExpectCompoundColumnsToBeUnique,
        description,
        problem,
        example,
        column_list=columns,
        ignore_row_if="any_value_is_missing",
        **arguments,
    )
