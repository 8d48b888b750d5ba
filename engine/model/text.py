"""Names, lists, plurals and sentences, for every layer. Numbers are in `formats`; values become words in `wording`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from urllib.parse import quote, urlsplit


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


def meant(name: str, known: Iterable[str]) -> str | None:
    """
    A question that offers the names nearest to a wrong one; None where none is near.

    >>> meant("scorebord", ["groups", "scoreboard"]), meant("x", ["groups"])
    ('Did you mean scoreboard?', None)
    >>> meant("orders_ap", ["orders-app", "orders-api", "pay"])
    'Did you mean orders-app or orders-api?'
    """
    near = get_close_matches(name, list(known))
    return f"Did you mean {' or '.join(near)}?" if near else None


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


def cut(name: str, limit: int) -> str:
    """
    A name of at most *limit* characters: an ellipsis stands for its middle, since names often differ at an end.

    >>> cut("orders-fulfilment-eu", 11), cut("orders", 11), cut("orders", 1)
    ('order…nt-eu', 'orders', '…')
    """
    if len(name) <= limit:
        return name
    tail = max(limit - 1, 0) // 2
    return f"{name[: max(limit - 1 - tail, 0)]}…{name[len(name) - tail :]}"


def one_line(value: object) -> str:
    """
    What something says of itself (an error, a name), on one line.

    >>> one_line(ValueError("two\\n  lines"))
    'two lines'
    """
    return " ".join(str(value).split())


def sentence(text: str) -> str:
    """
    A clause as a sentence.

    >>> sentence("lag falls by half"), sentence("No broker answered."), sentence("is it?")
    ('Lag falls by half.', 'No broker answered.', 'Is it?')
    """
    clean = one_line(text)
    if not clean:
        return ""
    ended = clean if clean[-1] in ".!?" else f"{clean}."
    # A first word with a capital, dot or hyphen inside is a name (a strategy, a setting): as is.
    first = ended.split()[0].rstrip(".,:;!?")
    return ended[0].upper() + ended[1:] if first.isalpha() and first.islower() else ended


def host_of(url: str) -> str | None:
    """
    Host and port of an address, all that may be shown of it; None when it is none of HTTP.

    >>> host_of("https://user:password@pages.test:8443/secret"), host_of("user:password@pages.test")
    ('pages.test:8443', None)
    """
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # no port, or no address
        return None
    return parts.netloc.rpartition("@")[2] if is_address else None


def report_place(cluster: str | None = None, group: str | None = None) -> str:
    """
    Where a page of the report is, below the address of all of them: of a group, of a cluster, or of what there is.

    >>> report_place("eu", "a/<b> 100%"), report_place("eu"), report_place()
    ('groups?cluster=eu&group=a%2F%3Cb%3E%20100%25', '?cluster=eu', '')
    """
    if cluster is None:
        return ""
    of_cluster = f"?cluster={_quoted(cluster)}"
    return of_cluster if group is None else f"groups{of_cluster}&group={_quoted(group)}"


def runbook_place(cause: str | None = None, *, of_pipeline: bool = False) -> str:
    """
    Where the page about a cause is, below the address of all of them: of a group, of a pipeline, or their list.

    >>> runbook_place("store in one rack"), runbook_place("step failed", of_pipeline=True), runbook_place()
    ('store-in-one-rack/', 'pipeline/#step-failed', '')
    """
    if cause is None:
        return ""
    return f"pipeline/#{slug(cause)}" if of_pipeline else f"{slug(cause)}/"


def slug(title: str) -> str:
    """
    A title as part of an address, as GitHub makes the anchor of a heading.

    >>> slug("Under-provisioned"), slug("History unreachable (Postgres)")
    ('under-provisioned', 'history-unreachable-postgres')
    """
    return re.sub(r"[^\w\- ]", "", title).strip().lower().replace(" ", "-")


def _quoted(name: str) -> str:
    return quote(name, safe="", errors="replace")


def printable(value: str) -> str:
    r"""
    Text without control characters: a group may be called anything.

    >>> printable("a\x1b[31mb\n")
    'a\\x1b[31mb\\n'
    """
    if value.isprintable():
        return value
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in value)


def group_name(value: str) -> str:
    """
    What a group or a cluster is called; a name of which nothing can be seen stands in quotes.

    >>> group_name("orders"), group_name("")
    ('orders', '""')
    """
    return printable(value) if value.strip() else f'"{printable(value)}"'


_UUID_LENGTH = 36
_UUID = re.compile(
    r"(?:^|[-_.])[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
)


def member_names(names: Sequence[str], hosts: Sequence[str], ids: Sequence[str]) -> list[str]:
    """
    What people call the members of a group: by name, with the host where others share that, and else by number.

    Args:
        names: (M) instance id, else client id; a UUID in it (Kafka Streams makes one per process) is left out.
        hosts: (M) where each is.
        ids: (M) member ids, which decide who is number 1.

    >>> member_names(["a", "b", "b"], ["/h1", "/h1", "/h2"], ["1", "2", "3"])
    ['a', 'b at h1', 'b at h2']
    >>> member_names(["b", "b", ""], ["/h", "/h", "/h"], ["b-7", "b-3", "c"])
    ['b at h #2', 'b at h #1', 'member']
    >>> member_names(["app-0f8fad5b-d9cb-469f-a165-70867728950e-StreamThread-1"], ["/h"], ["1"])
    ['app-StreamThread-1']
    """
    # most are too short to have one
    short = [(_UUID.sub("", n) if len(n) >= _UUID_LENGTH else n) or "member" for n in names]
    often = Counter(short)
    if len(often) == len(short):
        return short
    places = [host.removeprefix("/") for host in hosts]
    full = [
        f"{name} at {place}" if often[name] > 1 and place else name
        for name, place in zip(short, places, strict=True)
    ]
    of_full, turn = Counter(full), Counter[str]()
    for member in sorted(range(len(full)), key=lambda number: ids[number]):
        name = full[member]
        if of_full[name] > 1:
            turn[name] += 1
            full[member] = f"{name} #{turn[name]}"
    return full
