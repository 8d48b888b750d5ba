"""The metric row of a group of which nothing is known but why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenkeel.engine.model import Diagnosis, GroupType, Status
from evenkeel.engine.records import GroupMetrics, blank


def silent_row(error: str, **known: Any) -> GroupMetrics:
    """
    Every number unknown.

    Args:
        error: Why.
        known: The columns that say which group it is, and what else is known of it.
    """
    return blank(
        GroupMetrics,
        **known,
        status=Status.UNKNOWN,
        diagnosis=Diagnosis.UNKNOWN,
        diagnosis_reason=error,
        error=error,
        findings=(),
        facts=(),
    )


def silent_group(group: Mapping[str, Any], config_version: str, error: str) -> GroupMetrics:
    """The same by what its row in the dataset `groups` says of it."""
    return silent_row(
        error,
        snapshot_id=group["snapshot_id"],
        cluster=group["cluster"],
        group_id=group["group_id"],
        config_version=config_version,
        group_type=GroupType(group["group_type"]),
        state=group["state"] or "",
        assignor=group["assignor"],
    )
