"""
The errors of evenkeel, each with an exit code.

The message has the failed action and its object; *fix* is what the user can do. Errors of drivers are chained as
causes, never shown to users directly.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

from .text import meant, printable

if TYPE_CHECKING:
    from .facts import Fact


class EvenkeelError(Exception):
    """evenkeel could not do what was asked."""

    exit_code = 1

    def __init__(self, message: str | None = None, *, fix: str | None = None) -> None:
        """
        Args:
            message: The failed action and its object; the default is the sentence of the class.
            fix: The fix, as an imperative sentence.
        """
        told = message or inspect.cleandoc(self.__doc__ or "").splitlines()[0]
        self.message = printable(told.replace("\n", " "))
        self.fix = printable(fix.replace("\n", " ")) if fix else fix
        super().__init__(message, fix)

    def __str__(self) -> str:
        """One line: the message, then the fix."""
        return f"{self.message} {self.fix}" if self.fix else self.message

    def __reduce__(self) -> tuple[object, ...]:
        """Errors travel between processes (Spark workers), keyword argument included."""
        return partial(type(self), fix=self.fix), (self.message,)


class ConfigError(EvenkeelError):
    """The configuration is not valid."""

    exit_code = 2


class InputError(EvenkeelError):
    """The input is not what this command reads."""

    exit_code = 2


def no_strategy(name: str, known: Iterable[str], *, at: str = "", more: str = "") -> InputError:
    """
    The error about a strategy that does not exist: the nearest names, then all of them.

    Args:
        name: The wrong name.
        known: The names that are right here.
        at: Where it is given, such as an option.
        more: What else is right, after the names.

    >>> str(no_strategy("stickey", ["range", "sticky"], at="--to: "))
    "--to: there is no strategy 'stickey'. Did you mean sticky? Known: range, sticky."
    """
    names = list(known)
    there = f"Known: {', '.join(names)}{more}."
    near = meant(name, names)
    fix = f"{near} {there}" if near else there
    return InputError(f"{at}there is no strategy {name!r}.", fix=fix)


class ClusterUnreachable(EvenkeelError):
    """The Kafka cluster did not answer."""

    exit_code = 3


class ClusterChanged(EvenkeelError):
    """Another Kafka cluster answers under this configured name."""

    exit_code = 3


class ClusterBusy(EvenkeelError):
    """A snapshot of this cluster is still being taken."""

    exit_code = 3


class LakeError(EvenkeelError):
    """The lake folder cannot be read or written."""

    exit_code = 4


class SnapshotNotFound(LakeError):
    """There is no such snapshot."""


class HistoryError(EvenkeelError):
    """The history database cannot be used."""

    exit_code = 5


class HistoryUnreachable(HistoryError):
    """The history database did not answer."""


class NotifierError(EvenkeelError):
    """The message could not be delivered."""

    exit_code = 6


class NotDelivered(NotifierError):
    """The message was not delivered, and certainly nobody has it."""


class ChannelClosed(NotDelivered):
    """The channel takes no messages of ours."""


class Infeasible(EvenkeelError):
    """The strategy cannot run on this group."""

    exit_code = 1

    def __init__(
        self, message: str | None = None, *, fix: str | None = None, why: Fact | None = None
    ) -> None:
        """
        Args:
            message: As for every error.
            fix: As for every error.
            why: The message as a fact; it stays behind when the error travels.
        """
        super().__init__(message, fix=fix)
        self.why = why
