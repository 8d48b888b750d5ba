"""Looks at the snapshots of a lake one after another, as if each had just been taken."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.adapters.slack import SlackNotifier
from evenkeel.engine.config import Settings
from evenkeel.engine.incidents.evaluation import Judgment
from evenkeel.engine.pipeline.evaluate_groups import judge_groups
from evenkeel.engine.ports import Lake

TOKEN = "xoxb-test"
TIMEOUT_SECONDS = 30
HASTY_SECONDS = 1
"""For who shall meet an answer that comes too late."""


class UntilNow(FileLake):
    """A lake in which the snapshots after *now* were not taken yet."""

    now: str | None = None

    def snapshots(self, cluster: str, *, until: str | None = None, limit: int = 1) -> list[str]:
        """Those up to now."""
        ends = [end for end in (until, self.now) if end]
        return super().snapshots(cluster, until=min(ends, default=None), limit=limit)


class JudgedOnce:
    """Judges a snapshot of a lake once, however often it is looked at: what is said of it follows from the lake."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str, frozenset[str]], Judgment] = {}

    def __call__(
        self,
        lake: Lake,
        settings: Settings,
        snapshot_id: str,
        watched: Collection[str] = (),
        seen: Sequence[object] = (),
    ) -> Judgment:
        """What it says of its groups; nobody has seen any of them before."""
        assert not seen
        key = (str(getattr(lake, "path", "")), snapshot_id, frozenset(watched))
        if key not in self._known:
            self._known[key] = judge_groups(lake, settings, snapshot_id, watched)
        return self._known[key]


def slack_at(base_url: str, timeout_seconds: int = TIMEOUT_SECONDS) -> SlackNotifier:
    """A workspace that is tried again at once."""
    return SlackNotifier(
        TOKEN, base_url, timeout_seconds=timeout_seconds, pause=lambda seconds: None
    )
