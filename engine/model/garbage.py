"""When Python looks for objects that only refer to each other."""

from __future__ import annotations

import gc

SELDOM = 200_000
"""So many more objects than at the last look."""


def collect_seldom() -> None:
    """
    Have the garbage collector of this process look seldom, and never at what is there already.

    For a process that does one thing: what is imported stays, and what a step makes is used until its end.
    """
    if not gc.get_freeze_count():
        gc.freeze()
    gc.set_threshold(SELDOM)
