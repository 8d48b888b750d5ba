"""What all parts of the configuration have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

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

    renamed: ClassVar[Mapping[str, str]] = {}
    """Keys of earlier versions, and what they are called now."""

    gone: ClassVar[Mapping[str, str]] = {}
    """Keys of earlier versions that no other key stands for, and what holds instead."""

    @model_validator(mode="before")
    @classmethod
    def _no_old_names(cls, given: Any) -> Any:
        """
        Raises:
            ValueError: A key has another name now, or means nothing any more.
        """
        for old, new in cls.renamed.items():
            if isinstance(given, Mapping) and old in given:
                raise ValueError(f"{old} is called {new} now")
        for old, instead in cls.gone.items():
            if isinstance(given, Mapping) and old in given:
                raise ValueError(f"{old} means nothing any more: {instead}")
        return given
