"""
A dead man's switch: an address called after each good run, whose owner raises the alarm when nobody calls.

It knows neither Airflow nor Postgres, so it misses us whatever has stopped us. Any service that expects a GET will do,
https://healthchecks.io/docs/http_api/ for one.
"""

from __future__ import annotations

import logging
from urllib.parse import quote

from ...model.errors import NotifierError
from .http_call import call

log = logging.getLogger(__name__)

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
        Say that a run of a cluster went well; that it could not be said is a warning in the log.

        Returns:
            Whether it was heard.
        """
        url = self._url.replace("{cluster}", quote(cluster, safe=""))
        try:
            call(f"the heartbeat of {cluster}", "GET", url, fix=FIX)
        except NotifierError as problem:
            log.warning("%s", problem)
            return False
        return True
