"""
Where a follower finds its plan: a file, an https address, or the newest record of its group in a compacted topic.

Whatever is read is read in a thread of its own and awaited for a bounded time: the caller is inside its client's event
loop, in the middle of a rebalance. What a `SourceError` says may be logged: it never holds a password, a user name, or
what stands behind the question mark of an address.
"""

from __future__ import annotations

import base64
import os
import re
import ssl
import stat
from collections.abc import Mapping
from http.client import HTTPException
from ipaddress import ip_address
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from time import monotonic
from typing import IO, Any, Protocol
from urllib.error import HTTPError, URLError
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener, url2pathname

LARGEST = 10_000_000
"""Bytes; a plan of 100,000 partitions has less than one million."""

TOPIC = "topic:"

ABANDONED_SECONDS = 60
"""After so long a reading that has not ended is left to itself, and another may begin."""

_PIECE = 1 << 16


class SourceError(Exception):
    """A plan that cannot be had; the message says why, without secrets."""


class Source(Protocol):
    """
    A place where a plan is.

    Attributes:
        label: It, in words without secrets.
    """

    label: str

    def read(self, deadline: float) -> bytes:
        """
        The plan's text.

        Args:
            deadline: When nobody waits any more, by `time.monotonic`.

        Raises:
            SourceError: There is none, or none that may be had.
        """


def source_of(plan: str, group: str, client: Mapping[str, Any] | None = None) -> Source:
    """
    The source that a setting names.

    Args:
        plan: A path, a `file:` or `https:` address (`http:` of this host only), or `topic:NAME`.
        group: Whose plan, where there are several.
        client: Settings of kafka-python for reading a topic.

    Raises:
        ValueError: It names none; the message says what would.

    >>> source_of("https://user:secret@plans.example/orders.json?token=secret", "orders").label
    'https://plans.example/orders.json'
    """
    if plan.startswith(TOPIC):
        return TopicSource(plan.removeprefix(TOPIC), group, client or {})
    scheme = re.match(r"([A-Za-z][A-Za-z0-9+.-]+):", plan)
    kind = scheme.group(1).lower() if scheme else ""
    if kind in ("http", "https"):
        return WebSource(plan)
    if kind == "file":
        parts = urlsplit(plan)
        if parts.netloc not in ("", "localhost"):
            host = parts.hostname
            raise ValueError(f"a file is read of this host only, not of {host}: mount it")
        return FileSource(url2pathname(parts.path))
    if kind and plan[len(kind) + 1 :].startswith("//"):
        raise ValueError(
            f"a plan cannot be read by {kind}: name a path, an https address or topic:NAME"
        )
    return FileSource(plan)


class FileSource:
    """A file; it may be replaced at any time, best by renaming another over it."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.label = str(self.path)

    def read(self, deadline: float) -> bytes:
        """What stands in it."""
        try:
            # opening a pipe would wait for a writer
            if not stat.S_ISREG(self.path.stat().st_mode):
                raise SourceError("it is no file")
            with self.path.open("rb") as file:
                return _all_of(file, deadline)
        except OSError as problem:
            raise SourceError(problem.strerror or type(problem).__name__) from None


class WebSource:
    """An https address; a user and password in it are sent as basic authorization, and to that host only."""

    def __init__(self, address: str) -> None:
        parts = _checked(address)
        name, _, host = parts.netloc.rpartition("@")
        self.label = urlunsplit((parts.scheme, host, parts.path, "", ""))
        self._address = urlunsplit(parts._replace(netloc=host, fragment=""))
        self._authorization = ""
        if name:
            user, _, password = name.partition(":")
            told = f"{unquote(user)}:{unquote(password)}".encode()
            self._authorization = f"Basic {base64.b64encode(told).decode()}"
        # this host is reached without the proxy of others
        direct = [ProxyHandler({})] if _is_loopback(parts) else []
        self._opener = build_opener(_Redirects(), *direct)

    def read(self, deadline: float) -> bytes:
        """What it answers."""
        request = Request(self._address, headers={"Accept": "application/json"})
        if self._authorization:
            request.add_unredirected_header("Authorization", self._authorization)
        try:
            with self._opener.open(request, timeout=max(deadline - monotonic(), 0.1)) as answer:
                return _all_of(answer, deadline)
        except HTTPError as problem:
            problem.close()
            raise SourceError(f"it answers {problem.code}") from None
        except URLError as problem:
            raise SourceError(_reason(problem.reason)) from None
        except (OSError, HTTPException, ValueError) as problem:
            raise SourceError(_reason(problem)) from None


class TopicSource:
    """The newest record of a compacted topic whose key is the group id; a record without value takes the plan back."""

    def __init__(self, topic: str, group: str, client: Mapping[str, Any]) -> None:
        if not topic:
            raise ValueError("topic: names no topic: write topic:NAME")
        if not client.get("bootstrap_servers"):
            raise ValueError(
                "a plan in a topic needs client settings:"
                ' PlanAssignor(..., client={"bootstrap_servers": "broker1:9092"})'
            )
        self.topic, self.group = topic, group
        self.label = f"{TOPIC}{topic}"
        self._client = dict(client)

    def read(self, deadline: float) -> bytes:
        """The record's value; of several partitions, that of the newest record by its time."""
        from kafka.errors import KafkaError

        try:
            newest = self._newest(deadline)
        except (KafkaError, OSError) as problem:
            # its text may hold settings
            raise SourceError(f"the client says {type(problem).__name__}") from None
        if newest is None or newest.value is None:
            raise SourceError(f"it has no record of key {self.group!r}")
        if len(newest.value) > LARGEST:
            raise SourceError(_TOO_LARGE)
        return bytes(newest.value)

    def _newest(self, deadline: float) -> Any:
        from kafka import KafkaConsumer, TopicPartition

        consumer = KafkaConsumer(**self._settings(deadline))
        try:
            numbers = consumer.partitions_for_topic(self.topic)
            if not numbers:
                raise SourceError("there is no such topic, or it may not be read")
            parts = [TopicPartition(self.topic, number) for number in sorted(numbers)]
            consumer.assign(parts)
            consumer.seek_to_beginning(*parts)
            ends = consumer.end_offsets(parts, timeout_ms=_left_ms(deadline))
            return self._read_to(consumer, ends, deadline)
        finally:
            consumer.close()

    def _read_to(self, consumer: Any, ends: Mapping[Any, int], deadline: float) -> Any:
        key, newest = self.group.encode(), None
        left = {part for part, end in ends.items() if end > 0}
        while left:
            if monotonic() > deadline:
                raise SourceError("it was not read to its end in time")
            for records in consumer.poll(timeout_ms=100).values():
                for record in records:
                    own = record.key == key
                    if own and (newest is None or record.timestamp >= newest.timestamp):
                        newest = record
            reached = {part: consumer.position(part, timeout_ms=1000) or 0 for part in left}
            left = {part for part in left if reached[part] < ends[part]}
        return newest

    def _settings(self, deadline: float) -> dict[str, Any]:
        """The given settings, without what would make a member of a group or a topic of it."""
        of_groups = ("partition_assignment_strategy", "group_instance_id", "group_id")
        given = {key: value for key, value in self._client.items() if key not in of_groups}
        return {
            "client_id": "evenkeel-plan",
            "bootstrap_timeout_ms": _left_ms(deadline),
            **given,
            "group_id": None,
            "enable_auto_commit": False,
            "allow_auto_create_topics": False,
            "auto_offset_reset": "earliest",
            "key_deserializer": None,
            "value_deserializer": None,
        }


class Reading:
    """Reads a source, awaiting it for a bounded time; one reading at a time."""

    def __init__(self, source: Source, timeout_seconds: float) -> None:
        self.source, self.timeout_seconds = source, timeout_seconds
        self._thread: Thread | None = None
        self._began = 0.0

    def read(self) -> bytes:
        """
        What the source says.

        Raises:
            SourceError: It says nothing, or not in time.
        """
        waited = monotonic() - self._began
        if self._thread is not None and self._thread.is_alive() and waited < ABANDONED_SECONDS:
            raise SourceError("it has not answered since it was asked before")
        answers: Queue[bytes | Exception] = Queue()
        self._began = monotonic()
        deadline = self._began + self.timeout_seconds
        self._thread = Thread(
            target=self._run, args=(answers, deadline), name="evenkeel-plan", daemon=True
        )
        self._thread.start()
        try:
            answer = answers.get(timeout=self.timeout_seconds)
        except Empty:
            raise SourceError(f"no answer within {self.timeout_seconds:g} s") from None
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _run(self, answers: Queue[bytes | Exception], deadline: float) -> None:
        try:
            answers.put(self.source.read(deadline))
        except Exception as problem:  # noqa: BLE001  it is raised again where it is awaited
            answers.put(problem)


class _Redirects(HTTPRedirectHandler):
    """Follows to where a plan may be read from, and nowhere else."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> Request | None:
        try:
            _checked(newurl)
        except ValueError as problem:
            fp.close()
            raise SourceError(f"it redirects: {problem}") from None
        return super().redirect_request(req, fp, code, msg, headers, newurl)


_TOO_LARGE = f"it is larger than {LARGEST:,} bytes"


def _all_of(file: Any, deadline: float) -> bytes:
    """What is in it; nobody sends so slowly or so much that it does not end."""
    pieces, size = [], 0
    # `read1` returns what is there, `read` would wait for all of a piece
    while piece := file.read1(_PIECE):
        pieces.append(piece)
        size += len(piece)
        if size > LARGEST:
            raise SourceError(_TOO_LARGE)
        if monotonic() > deadline:
            raise SourceError("it was not read to its end in time")
    return b"".join(pieces)


def _left_ms(deadline: float) -> int:
    return max(int((deadline - monotonic()) * 1000), 100)


def _checked(address: str) -> SplitResult:
    """Its parts, if a plan may be read from there: who can change a plan on its way decides who gets what."""
    try:
        parts = urlsplit(address)
    except ValueError:
        raise ValueError("the address of a plan is none") from None
    if not parts.hostname:
        raise ValueError("the address of a plan names no host")
    if parts.scheme != "https" and not (parts.scheme == "http" and _is_loopback(parts)):
        raise ValueError(
            f"a plan is not read by {parts.scheme} from {parts.hostname}: use https"
            " (http is for this host only)"
        )
    return parts


def _is_loopback(parts: SplitResult) -> bool:
    host = parts.hostname or ""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _reason(problem: object) -> str:
    """What is wrong with a connection, without what was sent."""
    if isinstance(problem, TimeoutError):
        return "it does not answer in time"
    if isinstance(problem, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted: {problem.verify_message}"
    if isinstance(problem, OSError) and problem.strerror:
        return problem.strerror
    return problem if isinstance(problem, str) else type(problem).__name__
