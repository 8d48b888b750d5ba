"""What all parts of the configuration have in common."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

ADDRESS = r"^https?://[^\s<>|\"]+$"
"""An address of the web that chats take for one."""

Share = Annotated[float, Field(ge=0, le=1)]


def as_list(given: Any) -> Any:
    """A single text as a list of one."""
    return (given,) if isinstance(given, str) else given


Texts = Annotated[tuple[str, ...], BeforeValidator(as_list)]
"""Names or patterns: a list, or one text where there is one."""


class Strict(BaseModel):
    """Frozen, and an unknown key is an error that names it."""

    model_config = ConfigDict(frozen=True, extra="forbid")
