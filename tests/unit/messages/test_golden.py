"""All messages side by side: what a reviewer reads is what is sent."""

from __future__ import annotations

from tests.helpers.golden_messages import GOLDEN, golden


def test_the_file_of_all_messages_is_what_is_sent() -> None:
    """A changed word is seen in review: `python -m tests.helpers.golden_messages` writes the file anew."""
    assert GOLDEN.read_text(encoding="utf-8") == golden()
