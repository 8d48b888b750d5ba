"""Who is paged, beside those who read a channel: programs that take events over HTTP."""

from __future__ import annotations

import fnmatch
from typing import Literal

from pydantic import Field, SecretStr

from .base import Strict, Texts


class Webhook(Strict):
    """
    A program that pages people.

    Attributes:
        format: Event format: `alertmanager` (API v2) or `pagerduty` (Events API v2).
        severity: Lowest severity that is sent.
        groups: Shell patterns of group ids. Pipeline incidents go only to webhooks with the pattern `*`.
        clusters: Shell patterns of cluster names.
        url: Address of the receiver. PagerDuty needs it only if it isn't the usual one. Set it in the environment or a
            connection only.
        key: PagerDuty's routing key, or the bearer token of an Alertmanager that requires one. Set it in the
            environment or a connection only.
    """

    format: Literal["alertmanager", "pagerduty"]
    severity: Literal["warning", "critical"] = "critical"
    groups: Texts = Field(default=("*",), min_length=1)
    clusters: Texts = Field(default=("*",), min_length=1)
    url: SecretStr | None = None
    key: SecretStr | None = None

    @property
    def address(self) -> str | None:
        """The url in clear, without a slash at its end."""
        return self.url.get_secret_value().rstrip("/") if self.url else None

    @property
    def token(self) -> str | None:
        """The key in clear."""
        return self.key.get_secret_value() if self.key else None

    def takes(self, cluster: str, group: str | None, *, critical: bool) -> bool:
        """
        Whether it gets an incident of a group, or of a whole cluster (*group* None).

        >>> pager = Webhook(format="pagerduty", groups=("pay-*",))
        >>> pager.takes("eu", "pay-in", critical=True), pager.takes("eu", "pay-in", critical=False)
        (True, False)
        >>> pager.takes("eu", None, critical=True)
        False
        """
        if not critical and self.severity == "critical":
            return False
        fits = "*" in self.groups if group is None else _fits(group, self.groups)
        return fits and _fits(cluster, self.clusters)


def _fits(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)
