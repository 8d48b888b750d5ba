"""Commands of evenkeel, asked in this process about groups of real members."""

from __future__ import annotations

from threading import Lock

from typer.testing import CliRunner, Result

from evenkeel.engine.cli import app
from tests.stage.process import wait_until

SECONDS = 180
"""For a rebalance to end, on a busy machine."""

AGAIN = "Retry once the group is Stable."
"""How a refusal ends that is only about this moment."""

_ONE = Lock()
"""Who invokes a command: meanwhile standard output is its own."""


def evenkeel(*arguments: str) -> str:
    """
    What the command prints; while the group rebalances it is asked again, as it says one should.

    A group that has settled may rebalance once more at any time, if only since one of its members saw a change late.

    Raises:
        AssertionError: The command failed, and not for a rebalance.
    """

    def answered() -> Result | None:
        with _ONE:
            result = CliRunner().invoke(app, [*arguments])
        if result.exit_code and AGAIN in result.output:
            return None
        assert result.exit_code == 0, result.output
        return result

    what = f"an answer of {' '.join(arguments[:2])}"
    result = wait_until(answered, SECONDS, what, interval=0.5)
    assert result is not None
    return str(result.stdout)
