"""Text helpers for every layer: what errors and problems are written with. Values get their words in `wording`."""

from __future__ import annotations

from collections.abc import Sequence


def several(number: int, noun: str) -> str:
    """
    A number of things, with a plural that ends in s.

    >>> several(1, "group"), several(2000, "group")
    ('1 group', '2,000 groups')
    """
    return f"{number:,} {plural(noun, number)}"


def plural(noun: str, number: float) -> str:
    """
    A noun for a number of things, which is written before it.

    >>> plural("move", 1), plural("move", 1.5)
    ('move', 'moves')
    """
    return noun if number == 1 else f"{noun}s"


def does(number: int, noun: str, for_one: str, for_many: str) -> str:
    """
    A number of things, and the verb for it.

    >>> does(1, "partition", "has", "have"), does(2, "partition", "has", "have")
    ('1 partition has', '2 partitions have')
    """
    return f"{several(number, noun)} {for_one if number == 1 else for_many}"


def listed(names: Sequence[str], limit: int = 3) -> str:
    """
    The first names and how many more there are.

    >>> listed(["a", "b"]), listed(["a", "b", "c", "d"], 2)
    ('a, b', 'a, b and 2 more')
    """
    return ", ".join(names[:limit]) + and_more(len(names) - limit)


def and_more(number: int) -> str:
    """
    The end of a list that shows not all: nothing when none is left out.

    >>> and_more(0), and_more(1200)
    ('', ' and 1,200 more')
    """
    return f" and {number:,} more" if number > 0 else ""


def named(names: Sequence[str], noun: str, for_one: str, for_many: str, limit: int = 3) -> str:
    """
    How many things, the first few names, and the verb for it.

    >>> named(["a", "b", "c", "d"], "client", "has", "have", 2), named(["a"], "client", "has", "have")
    ('4 clients (a, b and 2 more) have', '1 client (a) has')
    """
    verb = for_one if len(names) == 1 else for_many
    return f"{several(len(names), noun)} ({listed(names, limit)}) {verb}"


def shortened(text: str, limit: int) -> str:
    """
    At most *limit* characters, an ellipsis where something was cut.

    >>> shortened("abcdef", 4), shortened("abc", 4)
    ('abc…', 'abc')
    """
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def one_line(value: object) -> str:
    """
    What something says of itself (an error, a name), on one line.

    >>> one_line(ValueError("two\\n  lines"))
    'two lines'
    """
    return " ".join(str(value).split())
