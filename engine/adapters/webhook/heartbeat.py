"""
A dead man's switch: evenkeel calls an address after each good run, and the service behind it alerts if calls stop.

The service is independent of Airflow and Postgres. Any service that expects a GET works, e.g.
https://healthchecks.io/docs/http_api/.
"""

from __future__ import annotations

from urllib.parse import quote

from ...model.errors import NotifierError
from ...model.logs import logger
from .http_call import call

log = logger(__name__)

FIX = "Correct the Airflow connection evenkeel_heartbeat, or EVENKEEL_HEARTBEAT_URL."


class Heartbeat:
    """The address, in which `{cluster}` stands for the name of the cluster."""

    def __init__(self, url: str) -> None:
        """
        Args:
            url: The address; a secret.
        """
        self._url = url

    def __repr__(self) -> str:
        return "Heartbeat()"

    def beat(self, cluster: str) -> bool:
        """
        Report a good run of a cluster; a failure is a warning in the log.

        Returns:
            Whether the service answered.
        """
        url = self._url.replace("{cluster}", quote(cluster, safe=""))
        try:
            call(f"the heartbeat of {cluster}", "GET", url, fix=FIX)
        except NotifierError as problem:
            log.warning("%s", problem)
            return False
        return True
