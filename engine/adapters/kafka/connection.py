"""
One conversation with a cluster through kafka-python: bounded in time, counted, and never silent.

kafka-python works on a thread of its own. Coroutines here run on it: `Connection.run` starts one
from outside, `ask` sends one request, `on_each` works on several brokers at once. There is at most
one request under way per broker, but for those of `ask_any` that nobody waits for any more: so a
moment taken before sending is when the broker was asked.

How long slow brokers are waited for: each step asks all brokers side by side, so many cost no more
than the slowest of them. One request ends after `request_timeout_seconds`. A broker that was slow is
asked no more once seven eighths of `timeout_seconds` are over (79 of 90 s), the rest of which is for the
others; at its end the conversation ends. A broker that never answers is given up when the patience
for what passes is used up (`RETRY_SECONDS`): after 47 s with the default limits.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from dataclasses import dataclass
from random import shuffle
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

import kafka.errors as kafka_errors
from kafka.future import Future
from kafka.net.manager import KafkaConnectionManager
from kafka.net.selector import NetworkSelector
from kafka.protocol.sasl import SaslAuthenticateRequest, SaslBytesRequest

from ...config import ClusterSettings
from ...model.errors import ClusterUnreachable
from .addresses import reachable
from .messages import StreamsGroupDescribeRequest
from .properties import client_arguments
from .refusals import (
    LOGIN_REFUSED,
    brief,
    explain,
    is_cut,
    is_lasting,
    is_outdated,
    speaks_tls,
)

if TYPE_CHECKING:
    from .validity import Certificate

T = TypeVar("T")
K = TypeVar("K")

CONNECT_SECONDS = 5.0
"""How long a broker may take to accept a connection, identify itself and check the login."""
RETRY_SECONDS = 15.0
"""How long one conversation waits in all for what passes: Kafka notices a dead broker after 9 s."""
SILENT_SECONDS = 2.0
"""How long a broker may take that let a request run into its time limit; twice as long after each further time."""
FOR_OTHERS = 0.125
"""Share of a conversation's time that slow brokers may not use: then those that are well are read to the end."""
_LARGEST_GREETING, _LARGEST_RESPONSE = 1_000_000, 500_000_000
"""Bytes of an answer at most: while nobody knows who answers, and once it is a broker that checked our login."""
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.1, 2.0

_LASTING = (
    *LOGIN_REFUSED,
    kafka_errors.IncompatibleBrokerVersion,
    kafka_errors.KafkaProtocolError,
)


_TIMED_OUT = (kafka_errors.RequestTimedOutError, kafka_errors.KafkaTimeoutError)


class Unanswered(Exception):
    """A broker gave no answer to one request; the text says which and why."""

    def __init__(self, cause: str, *, passing: bool = False) -> None:
        """
        Args:
            cause: One line.
            passing: Whether asking again may help.
        """
        super().__init__(cause)
        self.passing = passing


@dataclass(slots=True)
class Traffic:
    """Bytes of requests and responses over one conversation, before and after TLS."""

    sent: int = 0
    received: int = 0


class _Manager(KafkaConnectionManager):  # type: ignore[misc]
    """
    kafka-python's connections, which also remember why a broker could not be connected to, and count what they carry.
    """

    def __init__(self, net: NetworkSelector, traffic: Traffic, **arguments: Any) -> None:
        self.failures: dict[Any, BaseException] = {}
        self.traffic = traffic
        super().__init__(net, **arguments)

    def get_connection(self, node_id: Any, *args: Any, **options: Any) -> Any:
        failure = self.failures.get(node_id)
        if failure is not None and is_lasting(failure):
            raise failure
        connection = super().get_connection(node_id, *args, **options)
        if connection.initializing:
            connection.init_future.add_errback(lambda cause: self.failures.update({node_id: cause}))
            connection.init_future.add_callback(lambda _: _believe(connection))
        return connection

    async def _build_transport(self, node: Any, timeout_at: float | None = None) -> Any:
        """The library's, which would wait for the other side of a TLS handshake for ever."""
        left = CONNECT_SECONDS if timeout_at is None else timeout_at - time.monotonic()
        building = self.call_soon(super()._build_transport, node, timeout_at)
        return _heard_out(await self.wait_for(building, max(left, 0) * 1000), self.traffic)


def _believe(connection: Any) -> None:
    """Let a broker that introduced itself answer at length."""
    connection.parser._max_frame_size = _LARGEST_RESPONSE


def _heard_out(transport: Any, traffic: Traffic) -> Any:
    """
    Let a transport hand on what it receives together with the end of the connection, and count its bytes.

    The library drops that, and it is how brokers refuse a login: they answer and hang up.
    """
    receive, send, ends = transport._sock_recv, transport._sock_send, list[BaseException]()

    def receive_all() -> tuple[bytes, BaseException | None]:
        if ends:
            return b"", ends.pop()
        data, end = receive()
        traffic.received += len(data)
        if data and end is not None:
            ends.append(end)
            return data, None
        return data, end

    def send_all() -> tuple[int, BaseException | None]:
        count, end = send()
        traffic.sent += count
        return count, end

    transport._sock_recv, transport._sock_send = receive_all, send_all
    return transport


class Connection:
    """
    An open conversation; use it as a context.

    Attributes:
        requests: How many were sent, by API name.
        traffic: What they carried.
        waited: Seconds spent on pauses, on requests that failed, and beyond `SILENT_SECONDS` on others.
    """

    def __init__(self, name: str, settings: ClusterSettings) -> None:
        """
        Args:
            name: The configured cluster, for messages.
            settings: Its addresses, properties and time limits.

        Raises:
            ConfigError: A property is not supported.
            ClusterUnreachable: No broker could be connected to, or the login was refused.
        """
        arguments = client_arguments(settings.properties, f"cluster {name!r}")
        self.name, self._settings = name, settings
        self.requests: Counter[str] = Counter()
        self.traffic = Traffic()
        self.waited = 0.0
        self.retry_seconds = RETRY_SECONDS
        self._arguments = arguments
        # no one request may use up the time of all
        self._request_seconds = min(settings.request_timeout_seconds, settings.timeout_seconds / 4)
        self._deadline = time.monotonic() + settings.timeout_seconds
        self._given_up: dict[int, str] = {}
        self._silent: dict[int | None, float] = {}
        self._slow: set[int | None] = set()
        _silence_library()
        arguments |= {
            "request_timeout_ms": round(self._request_seconds * 1000),
            "socket_connection_setup_timeout_ms": round(CONNECT_SECONDS * 1000),
            "receive_message_max_bytes": _LARGEST_GREETING,
            # its own metadata requests must not put ours on hold
            "max_in_flight_requests_per_connection": 10,
        }
        if token := arguments.get("sasl_oauth_token_provider"):
            token.fetch()
        self._connect(arguments)

    def _connect(self, arguments: dict[str, Any]) -> None:
        """Learn the cluster's brokers from the first bootstrap address that tells them, however slowly."""
        seconds = min(2 * CONNECT_SECONDS, self._request_seconds)
        shares = self._settings.bootstrap.count(",") + 1
        slow: list[str] = []
        error: ClusterUnreachable | None = None
        for address in reachable(self.name, self._settings.bootstrap, CONNECT_SECONDS):
            error = self._bootstrap(address, seconds / shares, arguments)
            if error is None:
                return
            if isinstance(error.__cause__, _TIMED_OUT):
                slow.append(address)
        if shares > 1 and slow:
            error = self._bootstrap(slow[0], seconds, arguments)
        if error is not None:
            raise error

    def _bootstrap(
        self, address: str, seconds: float, arguments: dict[str, Any]
    ) -> ClusterUnreachable | None:
        """Ask one address; why not, if it does not tell."""
        self._net = NetworkSelector(**arguments)
        self._manager = _Manager(self._net, self.traffic, bootstrap_servers=address, **arguments)
        self._net.start()
        try:
            self._manager.bootstrap(round(seconds * 1000))
        except Exception as problem:  # noqa: BLE001 - it raises whatever its sockets raise
            self.close()
            return self._unreachable(address, problem, seconds)
        return None

    def __enter__(self) -> Connection:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections and end the thread."""
        self._manager.close()
        self._net.close()

    @property
    def brokers(self) -> dict[int, tuple[str, int]]:
        """Node id -> address of the brokers that are alive, as the cluster last told."""
        return {b.node_id: (b.host, b.port) for b in self._manager.cluster.brokers()}

    @property
    def seconds_left(self) -> float:
        """Until the time limit of the whole conversation."""
        return self._deadline - time.monotonic()

    @property
    def version(self) -> str:
        """The brokers' version, as far as the requests they know tell it."""
        text: str = self._manager.broker_version_data.broker_version_str
        # kafka-python 3.0 knows none after 4.3
        newer = text == "4.3" and self.supports(StreamsGroupDescribeRequest, 1)
        return "4.4" if newer else text

    def supports(self, request: Any, version: int = 0) -> bool:
        """Whether the brokers know a request class, at least in this version."""
        known = self._manager.broker_version_data.api_versions.get(request.API_KEY)
        return known is not None and known[1] >= version

    def address(self, node: int) -> str:
        """A broker as text: its id and address."""
        known = self.brokers.get(node)
        return f"broker {node} ({known[0]}:{known[1]})" if known else f"broker {node}"

    def run(self, work: Callable[..., Coroutine[Any, Any, T]], *args: Any) -> T:
        """Run a coroutine to its end and return its value."""
        value: T = self._manager.run(work, *args)
        return value

    async def ask(self, request: Any, node: int | None = None) -> Any:
        """
        Send one request and wait for its response.

        Args:
            request: A kafka-python request.
            node: Which broker; any without.

        Raises:
            Unanswered: The broker did not answer, cannot be reached, does not know the request, or
                the time for the whole conversation is up.
        """
        left, whole = self.seconds_left, self._settings.timeout_seconds
        if left <= 0:
            raise Unanswered(f"the time limit of {whole:g} s for a snapshot was reached")
        if node in self._given_up:
            raise Unanswered(self._given_up[node])
        if node is not None and node in self._slow:
            left -= FOR_OTHERS * whole
            if left <= 0:
                who = self.address(node)
                raise Unanswered(f"{who} was too slow for the time limit of {whole:g} s")
        self.requests[type(request).__name__.removesuffix("Request")] += 1
        limit = self._silent.get(node, self._request_seconds)
        milliseconds, since = round(min(limit, left) * 1000), time.monotonic()
        try:
            answer = await self._manager.send(request, node, request_timeout_ms=milliseconds)
        except kafka_errors.KafkaError as problem:
            took = time.monotonic() - since
            self.waited += took
            if node is not None and isinstance(problem, _TIMED_OUT):
                self._slow.add(node)
                longer = 2 * self._silent.get(node, SILENT_SECONDS / 2)
                self._silent[node] = min(longer, self._request_seconds)
            passing = not isinstance(problem, _LASTING)
            raise Unanswered(self._why(node, problem, took), passing=passing) from problem
        took = time.monotonic() - since
        self.waited += max(took - SILENT_SECONDS, 0)
        self._silent.pop(node, None)
        (self._slow.add if took > SILENT_SECONDS else self._slow.discard)(node)
        return answer

    async def ask_any(self, request: Any) -> Any:
        """
        Send a request that every broker can answer; the first answer counts.

        A broker that fails, or takes longer than `SILENT_SECONDS`, is joined by the next one: what several in a row do
        not answer costs that for each, never the sum of their time limits.

        Raises:
            Unanswered: None answers; with the last one's cause.
        """
        last: BaseException = Unanswered("no broker is known to be alive")
        nodes, asked = iter(self._any()), dict[int, Future]()
        while True:
            node = next(nodes, None)
            if node is not None:
                asked[node] = self._manager.call_soon(self.ask, request, node)
            if not asked:
                raise last
            if not await self._one_ended(asked.values(), None if node is None else SILENT_SECONDS):
                self._slow.update(asked)
            for node in [node for node, future in asked.items() if future.is_done]:
                ended = asked.pop(node)
                if ended.succeeded():
                    return ended.value
                last = ended.exception

    async def _one_ended(self, futures: Iterable[Future], seconds: float | None) -> bool:
        """Wait until one of some futures is done, at most so long; whether one is."""
        one = Future()
        for future in futures:
            future.add_both(lambda _: None if one.is_done else one.success(True))
        try:
            ended: bool = await self._manager.wait_for(one, seconds and seconds * 1000)
        except kafka_errors.KafkaTimeoutError:
            return False
        return ended

    def _any(self) -> list[int]:
        """All brokers, first the one with least to do, the others at random, last those that were slow, then silent."""
        idle, others = self._manager.least_loaded_node(), list(self.brokers)
        shuffle(
            others
        )  # brokers that fail together, as those of a rack do, are not next to each other
        nodes = dict.fromkeys(node for node in (idle, *others) if node is not None)
        return sorted(nodes, key=lambda node: (node in self._silent, node in self._slow))

    async def on_each(self, keys: Iterable[K], work: Callable[[K], Awaitable[None]]) -> None:
        """Do the same for several keys at once and wait for all."""
        futures = [self._manager.call_soon(work, key) for key in keys]
        for future in futures:
            await future

    async def pause(self, attempt: int, since: float) -> bool:
        """
        Wait before another attempt; False when that is not worth it any more.

        Args:
            attempt: 0 for the first pause.
            since: `time.monotonic()` when the attempt that failed began; it counts as waiting too, up to
                `SILENT_SECONDS`: one broker that hangs shall not use up what others need.
        """
        seconds = min(_FIRST_PAUSE_SECONDS * 2**attempt, _LONGEST_PAUSE_SECONDS)
        self.retry_seconds -= min(time.monotonic() - since, SILENT_SECONDS) + seconds
        if self.retry_seconds < 0 or time.monotonic() + seconds > self._deadline:
            return False
        self.waited += seconds
        await self._net.sleep(seconds)
        return True

    def give_up(self, node: int, cause: str) -> None:
        """Ask this broker nothing more: each further attempt would cost its full time limit."""
        self._given_up.setdefault(node, cause)

    async def refresh(self) -> None:
        """Ask the cluster again which brokers are alive."""
        since = time.monotonic()
        try:
            await self._manager.cluster.refresh_metadata(next(iter(self._any()), None))
        except kafka_errors.KafkaError as problem:
            took = time.monotonic() - since
            self.waited += took
            raise Unanswered(self._why(None, problem, took)) from problem

    def _why(self, node: int | None, problem: BaseException, took: float) -> str:
        who = "no broker" if node is None else self.address(node)
        if isinstance(problem, kafka_errors.UnknownBrokerIdError):
            return f"{who} has left the cluster"
        if isinstance(problem, kafka_errors.NodeNotReadyError):
            problem = self._manager.failures.get(node, problem)
        if is_lasting(problem):
            host, port = self.brokers.get(node, ("", 0)) if node is not None else ("", 0)
            told = self._dates([problem], f"{host}:{port}") or self._explain([problem])
            if told:
                return f"{who} {told[0]}"
        what = "answered" if node is None else "did not answer"
        if isinstance(problem, _TIMED_OUT):
            return f"{who} {what} within {took:.0f} s"
        return f"{who} {what}: {brief(problem)}"

    def _explain(
        self, causes: list[BaseException], address: str | None = None
    ) -> tuple[str, str] | None:
        """What happened and the fix; an address is tried for TLS where we speak none."""
        probed = address is not None and "SSL" not in self._protocol
        spoken = probed and speaks_tls(str(address), min(CONNECT_SECONDS, 2))
        mechanism = self._arguments.get("sasl_mechanism")
        return explain(causes, self._protocol, mechanism, tls_spoken=spoken)

    def _dates(self, causes: list[BaseException], address: str) -> tuple[str, str] | None:
        """The same where a certificate, ours or theirs, is not valid now."""
        if "SSL" not in self._protocol or not (is_outdated(causes) or is_cut(causes)):
            return None
        from . import validity

        properties = self._settings.properties
        if is_outdated(causes):
            return validity.of_broker(address, properties, self._arguments["ssl_context"])
        return validity.of_client(properties)

    def first_to_end(self) -> Certificate | None:
        """The certificate to renew first; None without TLS. Each broker is connected to once more."""
        if "SSL" not in self._protocol:
            return None
        from . import validity

        addresses = [f"{host}:{port}" for host, port in self.brokers.values()]
        properties, context = self._settings.properties, self._arguments["ssl_context"]
        return validity.first_to_end(addresses, properties, context)

    @property
    def _protocol(self) -> str:
        return str(self._arguments.get("security_protocol", "PLAINTEXT"))

    def _unreachable(
        self, address: str, problem: BaseException, seconds: float
    ) -> ClusterUnreachable:
        """Something listens there, but it is no broker, it does not let us in, or it is slow."""
        where = f"cluster {self.name!r} at {address}"
        causes = [problem, *self._manager.failures.values()]
        told = self._dates(causes, address) or self._explain(causes, address)
        if told is not None:
            return _error(f"{where} {told[0]}.", told[1], problem)
        late = isinstance(causes[-1], _TIMED_OUT)
        why = f" within {seconds:.0f} s" if late else f": {brief(causes[-1])}"
        kind = "that it is a broker, not a controller"
        kind = f"{kind}, and that it is not overloaded" if late else f"and {kind}"
        return _error(
            f"{where} accepts connections but does not answer as Kafka over {self._protocol}{why}.",
            f"Check security.protocol and the port, {kind}.",
            causes[-1],
        )


def _error(message: str, fix: str, cause: BaseException) -> ClusterUnreachable:
    error = ClusterUnreachable(message, fix=fix)
    error.__cause__ = cause
    return error


class _NoLogins(logging.Filter):
    """Keeps requests that hold a login, and raw bytes, out of the library's debug log."""

    def filter(self, record: logging.LogRecord) -> bool:
        shown = record.args if isinstance(record.args, tuple) else (record.args,)
        return not any(isinstance(one, _UNSPOKEN) for one in shown)


_UNSPOKEN = (bytes, bytearray, memoryview, SaslAuthenticateRequest, SaslBytesRequest)
_NO_LOGINS = _NoLogins()


def _silence_library() -> None:
    """
    Its log repeats what our own messages say. A level that somebody set stays, and then no login
    shows.
    """
    logger = logging.getLogger("kafka")
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.CRITICAL)
    for name in ("kafka.net.connection", "kafka.protocol.parser"):
        logging.getLogger(name).addFilter(_NO_LOGINS)
