"""One thing that was tried, and how it went."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from ...model.errors import EvenkeelError

OK, WARN, FAIL = "OK", "WARN", "FAIL"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What was tried (of which cluster), how it went (`OK`, `WARN`, `FAIL`), what there is to say, and the remedy."""

    name: str
    outcome: str
    detail: str
    fix: str | None = None
    cluster: str | None = None

    def to_json(self) -> dict[str, Any]:
        """As JSON-able values."""
        content = asdict(self)
        return {"found" if name == "detail" else name: value for name, value in content.items()}


def checked(name: str, check: Callable[[], Check]) -> Check:
    """The check's answer; a failure of it is one too."""
    try:
        return check()
    except EvenkeelError as problem:
        return failed(name, problem)
    except Exception as problem:  # noqa: BLE001 one broken check must not hide the others
        found = f"unexpected {type(problem).__name__}: {str(problem).splitlines()[:1]}"
        return Check(
            name=name, outcome=FAIL, detail=found, fix="Run with EVENKEEL_DEBUG=1 for more."
        )


def failed(name: str, problem: EvenkeelError) -> Check:
    """What could not be done, and the fix that its error has."""
    return Check(name=name, outcome=FAIL, detail=problem.message, fix=problem.fix)
