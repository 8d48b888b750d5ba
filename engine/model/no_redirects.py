"""HTTP calls of `urllib` that follow no redirect, so that a secret goes to the configured address only."""

from __future__ import annotations

import ssl
from typing import Any
from urllib.request import HTTPRedirectHandler, HTTPSHandler, OpenerDirector, build_opener


class _NoRedirect(HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        """None: a redirect is an error with its status."""


def without_redirects(trusted: ssl.SSLContext | None) -> OpenerDirector:
    """
    An opener of addresses.

    Args:
        trusted: The trusted certificates; None: those of the machine.
    """
    return build_opener(_NoRedirect, HTTPSHandler(context=trusted))
