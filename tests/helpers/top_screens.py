"""What `evenkeel top` draws: `python -m tests.helpers.top_screens` writes `tests/data/top.txt`."""

from __future__ import annotations

import io
from datetime import timedelta
from pathlib import Path

from rich.console import Console

from evenkeel.engine import wiring
from evenkeel.engine.cli import sources
from evenkeel.engine.cli.top_state import TopState
from evenkeel.engine.cli.top_watch import Seen, Watch, see
from evenkeel.engine.cli.views.top import picture
from evenkeel.engine.config import Settings
from evenkeel.engine.snapshots import split_snapshot_id

DATA = Path(__file__).parents[1] / "data"
FILE = DATA / "top.txt"
MARK = "=== "
LISTED = TopState(group="skewed-load")
OPENED = TopState(group="skewed-load", is_open=True)


def drawn(
    watch: Watch,
    state: TopState,
    width: int = 80,
    height: int = 24,
    age: int = 3,
    seen: Seen | None = None,
) -> list[str]:
    """The lines of a screen, some seconds after the snapshot."""
    console = Console(
        width=width, height=height, record=True, file=io.StringIO(), force_terminal=True
    )
    seen = seen or watch.seen
    now = split_snapshot_id(seen.source.newest)[1] + timedelta(seconds=age)
    console.print(picture(watch, seen, state, now, width, height), height=height)
    lines = console.export_text().splitlines()
    assert len(lines) == height
    assert {len(line) for line in lines} == {width}
    return [line.rstrip() for line in lines]


def sample() -> str:
    """The file: the groups of the recording of the tests on two widths, then one of them opened."""
    lake = wiring.recorded(DATA / "cluster-recording.evenkeel")
    source = sources.from_lake(Settings(), lake, None, "the recording")
    watch = Watch(see(source, "*"), "*", 5)
    screens = {
        "80 columns": drawn(watch, LISTED, 80, 18),
        "160 columns": drawn(watch, LISTED, 160, 18),
        "skewed-load opened": drawn(watch, OPENED, 80, 18),
    }
    return "\n".join("\n".join([MARK + name, *lines]) for name, lines in screens.items()) + "\n"


if __name__ == "__main__":
    FILE.write_text(sample(), encoding="utf-8")
