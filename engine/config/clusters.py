"""Which clusters there are, and what is read of them."""

from __future__ import annotations

import fnmatch
from typing import Annotated

from pydantic import AfterValidator, Field

from .base import Strict, Texts


class Filter(Strict):
    """
    Which names to read.

    Attributes:
        allow: Shell patterns of names to read; an empty list means all.
        deny: Shell patterns of names to leave out; it overrides *allow*.
    """

    allow: Texts = ()
    deny: Texts = ()

    def admits(self, name: str) -> bool:
        """Whether a group or topic of this name is read."""
        if any(fnmatch.fnmatchcase(name, pattern) for pattern in self.deny):
            return False
        return not self.allow or any(fnmatch.fnmatchcase(name, p) for p in self.allow)

    def denying(self, names: str) -> str | None:
        """
        The pattern of *deny* that leaves out whatever these names are; None where none does so for certain.

        Args:
            names: A name, or a shell pattern of names.

        >>> Filter(deny=("web-*",)).denying("web-1"), Filter(deny=("web-*",)).denying("we*")
        ('web-*', None)
        """
        patterns = "*" in names or "?" in names
        for denied in () if "[" in names else self.deny:
            # of two patterns one covers the other for certain where all that it leaves open is `*`
            if fnmatch.fnmatchcase(names, denied) and not (patterns and set("?[") & set(denied)):
                return denied
        return None


_HEALTH_CHECKS = ("healthcheck", "health-check", "health_check")

PASSING_THROUGH = (
    "console-consumer-*",
    "console-share-consumer-*",
    *(
        f"{before}{word}{after}"
        for word in _HEALTH_CHECKS
        for before in ("", "*-")
        for after in ("", "-*")
    ),
)
"""
Groups that nobody answers for: those of Kafka's console consumers, and of health checks.

A health check is one by a word of its name: `*healthcheck*` would leave `healthcheckers-orders` out.
"""


def _denying_as_usual(given: Filter) -> Filter:
    said = "deny" in given.model_fields_set
    return given if said else given.model_copy(update={"deny": PASSING_THROUGH})


def _with_ports(value: str) -> str:
    if "@" in value:  # what is before it may be a password, and addresses are shown and stored
        raise ValueError(
            "an @ is in an address; write host:port alone, and user and password into properties "
            "(sasl.username, sasl.password)"
        )
    for address in value.split(","):
        host, _, port = address.strip().rpartition(":")
        if not host or not port.isdigit() or not 0 < int(port) < 65536:
            raise ValueError(
                f"{address.strip()!r} is not host:port; write for example broker1:9092"
            )
    return value


class ClusterSettings(Strict):
    """
    One Kafka cluster.

    Attributes:
        bootstrap: Broker addresses, `host:port`, separated by commas.
        properties: Security and other client properties by librdkafka's names, as in an Airflow Kafka connection. Set
            secrets in the connection or the environment only.
        groups: Groups to read. Without *deny*, groups of console consumers and health checks are left out.
        topics: Topics to read.
        follower_fetching: Whether consumers may read from the nearest replica (KIP-392). Set it if evenkeel lacks
            DESCRIBE_CONFIGS and cannot read it from the brokers.
        timeout_seconds: Time limit of one snapshot. What was read by then is kept, and the snapshot is marked partial.
            Slow brokers together get at most seven eighths of it.
        request_timeout_seconds: Time limit of one request, at most a quarter of *timeout_seconds*.
    """

    bootstrap: Annotated[str, AfterValidator(_with_ports)]
    properties: dict[str, str] = Field(default_factory=dict, repr=False)
    groups: Annotated[Filter, AfterValidator(_denying_as_usual)] = Filter(deny=PASSING_THROUGH)
    topics: Filter = Filter()
    follower_fetching: bool | None = None
    timeout_seconds: float = Field(default=90, gt=0)
    request_timeout_seconds: float = Field(default=10, gt=0)


class RefusedCluster(ClusterSettings):
    """
    A cluster of which Airflow's connection makes no sense: there is one of this name, which cannot be read.

    It keeps its place among the clusters, so that whoever watches them misses it.
    """

    bootstrap: str = "refused.invalid:9092"
    why: str
