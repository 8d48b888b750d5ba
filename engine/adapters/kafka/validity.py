"""From when until when certificates are valid: what was shown, who signed it, and what we show."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from ...model.deadline import within
from ...model.formats import minute
from ...model.moments import utc_now
from ...model.text import cut
from . import tls, x509

_SECONDS = 2.0
"""How long a broker may take to show its certificate."""
_SHOWN = 100
"""Characters of a subject that are shown."""
_SOON, _SOON_SHARE = timedelta(days=30), 0.1
"""A certificate ends soon when so little, or this share of its whole time, is left: some are made for a day."""

_FIX, _CLOCK = "Renew the broker's certificate.", "Check the clock of this machine."


@dataclass(frozen=True, slots=True)
class Certificate:
    """Whose certificate it is ("CN=broker-1"), by whom, and its dates."""

    subject: str
    issuer: str
    begins: datetime
    ends: datetime

    def __str__(self) -> str:
        return cut(self.subject or "without a subject", _SHOWN)

    @property
    def is_over(self) -> bool:
        """Whether it expired, by the clock here."""
        return self.ends < utc_now()

    @property
    def is_valid(self) -> bool:
        """Whether it is, by the clock here."""
        return self.begins <= utc_now() and not self.is_over

    @property
    def ends_soon(self) -> bool:
        """Whether it is time to renew it."""
        return self.ends - utc_now() < min(_SOON, _SOON_SHARE * (self.ends - self.begins))

    @property
    def dates(self) -> str:
        """What is wrong with its dates: words that go on "which ..."."""
        if self.is_over:
            return f"expired on {minute(self.ends)} ({self})"
        now = minute(utc_now())
        return f"is valid from {minute(self.begins)} on ({self}), and the clock here says {now}"


def of_broker(
    address: str, properties: Mapping[str, str], context: ssl.SSLContext
) -> tuple[str, str] | None:
    """
    Which certificate of a broker's chain is not valid now, and how to mend it; None where that is not found.

    Returns:
        As `refusals.explain`.
    """
    seen = shown(address, properties)
    if seen is None:
        return None
    if not seen.is_valid:
        return f"shows a certificate that {seen.dates}", _FIX if seen.is_over else _CLOCK
    for ca in trusted(context):
        if ca.subject == seen.issuer and not ca.is_valid:
            fix = f"{_FIX[:-1]} with a new CA, and set ssl.ca.location or ssl.ca.pem to that CA."
            return f"shows a certificate whose CA {ca.dates}", fix if ca.is_over else _CLOCK
    return None


def of_client(properties: Mapping[str, str]) -> tuple[str, str] | None:
    """The same of the certificate that a broker refused; None where its dates are not to blame."""
    ours = own(properties)
    if ours is None or ours.is_valid:
        return None
    fix = "Renew the certificate of ssl.certificate.location or ssl.certificate.pem."
    return f"refuses the client certificate, which {ours.dates}", fix if ours.is_over else _CLOCK


def first_to_end(
    addresses: Iterable[str], properties: Mapping[str, str], context: ssl.SSLContext
) -> Certificate | None:
    """Of the brokers' certificates, their CAs' and ours the one to renew first; None where none is seen."""
    theirs = [seen for address in addresses if (seen := shown(address, properties))]
    # a CA that was renewed may stand beside its former self
    cas = {ca.subject: ca for ca in sorted(trusted(context), key=lambda ca: ca.ends)}
    ours = own(properties)
    known = [*theirs, *(cas[one.issuer] for one in theirs if one.issuer in cas)]
    known += [ours] if ours else []
    return min(known, key=lambda one: (not one.ends_soon, one.ends), default=None)


def own(properties: Mapping[str, str]) -> Certificate | None:
    """The client's certificate, None without one or where it cannot be read."""
    text = properties.get("ssl.certificate.pem", "").encode()
    try:
        if path := properties.get("ssl.certificate.location"):
            text = Path(path).read_bytes()
        return Certificate(*x509.of_pem(text)) if text else None
    except (OSError, ValueError):
        return None


def shown(address: str, properties: Mapping[str, str]) -> Certificate | None:
    """The certificate that a broker shows, whatever it is worth; None where it shows none in time."""
    try:
        der = within(2 * _SECONDS, lambda: _der(address, properties))
        return Certificate(*x509.of_der(der)) if der else None
    except (OSError, ValueError):
        return None


def _der(address: str, properties: Mapping[str, str]) -> bytes | None:
    unchecked = {**properties, "enable.ssl.certificate.verification": "false"}
    host, _, port = address.rpartition(":")
    host = host.strip("[]")
    with (
        socket.create_connection((host, int(port)), timeout=_SECONDS) as plain,
        tls.context(unchecked, address).wrap_socket(plain, server_hostname=host) as spoken,
    ):
        return spoken.getpeercert(binary_form=True)


def trusted(context: ssl.SSLContext) -> Iterator[Certificate]:
    """Those of the CAs that a context trusts, without those that cannot be read."""
    for der in context.get_ca_certs(binary_form=True):
        with suppress(ValueError):
            yield Certificate(*x509.of_der(der))
