"""How an expectation is written here: what must be so, and what to say where it is not."""

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
    An expectation with the words for it.

    Args:
        kind: Which of Great Expectations' classes.
        description: What must be so; its name in the history.
        problem: What to say where it is not.
        example: What to say of one row, a format string over its columns.
        severity: `critical` withholds the group (or rejects the snapshot), the others are only noted.
        rejects: A failure is the whole snapshot's, not its group's.
        arguments: The expectation's own.
    """
    words = {"problem": problem, "example": example, "rejects": rejects}
    return kind(description=description, severity=severity, meta=words, **arguments)


def present(
    column: str, description: str, problem: str, example: str = "", **arguments: Any
) -> gxe.Expectation:
    """That a column has a value in every row; of one that `row_in` made, that what the row refers to is there."""
    return expect(
        gxe.ExpectColumnValuesToNotBeNull,
        description,
        problem,
        example,
        column=column,
        **arguments,
    )


def whole(rows: int, snapshot_id: str) -> list[gxe.Expectation]:
    """What holds for every dataset of a snapshot: all its rows are there, and no others."""
    return [
        expect(
            gxe.ExpectTableRowCountToEqual,
            "It has as many rows as its manifest says.",
            f"the manifest says {rows} rows, the table has {{observed}}",
            rejects=True,
            value=rows,
        ),
        expect(
            gxe.ExpectColumnValuesToBeInSet,
            "Its rows are of this snapshot.",
            "a row is of another snapshot",
            "{snapshot_id}",
            rejects=True,
            column="snapshot_id",
            value_set=[snapshot_id],
        ),
        present(
            "snapshot_id",
            "Its rows say which snapshot they are of.",
            "a row does not say which snapshot it is of",
            rejects=True,
        ),
    ]


def unique(
    description: str, problem: str, example: str, columns: list[str], **arguments: Any
) -> gxe.Expectation:
    """That no two rows have the same values in some columns; a row that lacks one is not compared."""
    return expect(
        gxe.ExpectCompoundColumnsToBeUnique,
        description,
        problem,
        example,
        column_list=columns,
        ignore_row_if="any_value_is_missing",
        **arguments,
    )
