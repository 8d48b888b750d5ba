"""Keys of a terminal, one by one: for a view that stays on the screen."""

from __future__ import annotations

import codecs
import os
import re
import select
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType

from ..model.errors import InputError

KEYS: Mapping[str, str] = MappingProxyType(
    {
        **{f"\x1b{start}A": "up" for start in "[O"},
        **{f"\x1b{start}B": "down" for start in "[O"},
        **{f"\x1b{start}C": "right" for start in "[O"},
        **{f"\x1b{start}D": "left" for start in "[O"},
        **dict.fromkeys(("\x1b[H", "\x1bOH", "\x1b[1~", "\x1b[7~"), "home"),
        **dict.fromkeys(("\x1b[F", "\x1bOF", "\x1b[4~", "\x1b[8~"), "end"),
        "\x1b[5~": "page up",
        "\x1b[6~": "page down",
        "\x1b": "escape",
        **dict.fromkeys("\r\n", "enter"),
        **dict.fromkeys("\x7f\b", "backspace"),
    }
)
"""What a terminal sends for a key without a letter, and the key's name."""

_ONE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|O[A-Z])?|.", re.DOTALL)
_BEGUN = re.compile(r"\x1b(?:\[[0-?]*|O)?\Z")

REST_SECONDS = 0.05
"""How long a sequence that has begun is waited for: Escape alone begins each of them."""

TERMINATED = 128 + signal.SIGTERM
"""Exit code of a program that SIGTERM ended."""

Keys = Callable[[float], list[str]]
"""The keys pressed by now; without any, the first within so many seconds."""


def keys_in(text: str) -> list[str]:
    r"""
    The keys behind what a terminal sent: a letter, or a name of `KEYS`; other keys are left out.

    >>> keys_in("q\x1b[A\x1bOB\x1b[1;5C\x1b\x1b[5~é")
    ['q', 'up', 'down', 'escape', 'page up', 'é']
    """
    found = (KEYS.get(one, one) for one in _ONE.findall(text))
    return [key for key in found if key.isprintable()]


def is_terminal() -> bool:
    """Whether standard input and output are a terminal that can move its cursor."""
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


@contextmanager
def keyboard() -> Iterator[Keys]:
    """
    Read the terminal key by key; at the end its settings are as before, also after Ctrl-C and SIGTERM.

    The terminal can't suspend the program meanwhile, which would leave it as it is now.

    Raises:
        InputError: The system has no such terminals.
        SystemExit: SIGTERM came; the exit code is `TERMINATED`.
        KeyboardInterrupt: The terminal is gone.
    """
    try:
        import termios
        import tty
    except ModuleNotFoundError:
        raise InputError(
            "keys can be read on Linux and macOS only.", fix="Use `evenkeel lag`."
        ) from None

    screen = sys.stdin.fileno()
    before = termios.tcgetattr(screen)
    handler = signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
    decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def read() -> str:
        data = os.read(screen, 1024)
        if not data:
            raise KeyboardInterrupt
        return decoder.decode(data)

    def comes(seconds: float) -> bool:
        return bool(select.select([screen], [], [], seconds)[0])

    def pressed(seconds: float) -> list[str]:
        sent = read() if comes(seconds) else ""
        while _BEGUN.search(sent) and comes(REST_SECONDS):
            sent += read()
        return keys_in(sent)

    try:
        tty.setcbreak(screen)
        own = termios.tcgetattr(screen)
        own[6][termios.VSUSP] = b"\0"
        termios.tcsetattr(screen, termios.TCSANOW, own)
        yield pressed
    finally:
        termios.tcsetattr(screen, termios.TCSAFLUSH, before)
        signal.signal(signal.SIGTERM, handler)
