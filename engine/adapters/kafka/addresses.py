"""Which bootstrap addresses accept a connection at all: the plain cause before any protocol."""

from __future__ import annotations

import queue
import socket
import threading
import time
from collections.abc import Iterator

from ...model.errors import ClusterUnreachable


def reachable(name: str, bootstrap: str, seconds: float) -> Iterator[str]:
    """
    The addresses, as `host:port`, that accept a TCP connection, each as soon as it does.

    All are tried at once, so that one dead address does not delay the others.

    Args:
        name: The configured cluster, for the message.
        bootstrap: Comma-separated `host:port`.
        seconds: How long to try.

    Raises:
        ClusterUnreachable: None does; with the cause for each.
    """
    addresses = [text.strip() for text in bootstrap.split(",")]
    answers: queue.Queue[tuple[str, str | None]] = queue.Queue()
    for address in addresses:
        # a daemon: looking up a name cannot be given a time limit
        arguments = (address, seconds, answers)
        threading.Thread(target=_try, args=arguments, daemon=True, name="connect").start()
    causes = dict.fromkeys(addresses, f"no answer within {seconds:g} s")
    deadline, answered = time.monotonic() + seconds + 0.5, False
    for _ in addresses:
        try:
            address, cause = answers.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            break
        if cause is None:
            answered = True
            yield address
        else:
            causes[address] = cause
    if answered:
        return
    told = "; ".join(f"{address}: {cause}" for address, cause in causes.items())
    raise ClusterUnreachable(
        f"cluster {name!r} cannot be reached ({told}).",
        fix="Check its bootstrap address, and that its brokers run and may be reached from here.",
    )


def _try(address: str, seconds: float, answers: queue.Queue[tuple[str, str | None]]) -> None:
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=seconds).close()
    except socket.gaierror:
        answers.put((address, "the name is not known"))
    except TimeoutError:
        answers.put((address, f"no answer within {seconds:g} s"))
    except OSError as problem:
        answers.put((address, (problem.strerror or str(problem)).lower()))
    else:
        answers.put((address, None))
