"""A group measured and replayed at once, as `compute_metrics` and `propose_candidates` do with a lake between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evenkeel.engine.config import Settings
from evenkeel.engine.model import GroupSnapshot
from evenkeel.engine.steps.measured import measured_at_once
from evenkeel.engine.steps.propose import propose_group


def proposed(
    settings: Settings,
    group: GroupSnapshot,
    earlier: Sequence[GroupSnapshot] = (),
    withheld: str | None = None,
) -> list[dict[str, Any]]:
    """The candidate rows of a group, made from the metrics it has with its past."""
    _, measured = measured_at_once(settings, group, earlier, withheld)
    return propose_group(settings, measured)
