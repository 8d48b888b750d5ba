"""
Whose a certificate is, by whom, and from when until when: four fields of X.509, read without a library of cryptography.

Nothing is verified here; that is what TLS does. Source: RFC 5280 section 4.1, ITU-T X.690 (DER), RFC 4514 (names).
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from datetime import UTC, datetime

_VERSION, _SHORT_YEAR = 0xA0, 0x17
"""Tags."""
_TEXT = {0x1E: "utf-16-be", 0x1C: "utf-32-be"}
"""By tag; the others are UTF-8, or ASCII."""
_NAMES = {
    "2.5.4.3": "CN",
    "2.5.4.6": "C",
    "2.5.4.7": "L",
    "2.5.4.8": "ST",
    "2.5.4.9": "STREET",
    "2.5.4.10": "O",
    "2.5.4.11": "OU",
    "0.9.2342.19200300.100.1.1": "UID",
    "0.9.2342.19200300.100.1.25": "DC",
}
_PEM = re.compile(rb"-----BEGIN CERTIFICATE-----(.*?)-----END CERTIFICATE-----", re.DOTALL)


Fields = tuple[str, str, datetime, datetime]
"""Subject and issuer as RFC 4514 writes them ("CN=broker-1,O=Example"), from when and until when it is valid."""


def of_pem(text: bytes) -> Fields:
    """
    Those of the first certificate in a PEM file.

    Raises:
        ValueError: There is none, or it is damaged.
    """
    found = _PEM.search(text)
    if found is None:
        raise ValueError("no certificate")
    return of_der(base64.b64decode(found[1]))


def of_der(der: bytes) -> Fields:
    """
    Those of a certificate as it is sent.

    Raises:
        ValueError: It is damaged.
    """
    try:
        ((_, certificate),) = _elements(der)
        (_, signed), *_ = _elements(certificate)
        fields = list(_elements(signed))
        if fields[0][0] == _VERSION:
            del fields[0]
        _, _, (_, issuer), (_, validity), (_, subject), *_ = fields
        begins, ends = (_moment(tag, content) for tag, content in _elements(validity))
        return _name(subject), _name(issuer), begins, ends
    except IndexError as problem:
        raise ValueError("cut off") from problem


def _elements(der: bytes) -> Iterator[tuple[int, bytes]]:
    """Tag and content of each element, one after the other."""
    at = 0
    while at < len(der):
        tag, size, at = der[at], der[at + 1], at + 2
        if size & 0x80:  # so many bytes have the size
            begin, at = at, at + (size & 0x7F)
            size = int.from_bytes(der[begin:at], "big")
        if at + size > len(der):
            raise ValueError("cut off")
        yield tag, der[at : at + size]
        at += size


def _moment(tag: int, content: bytes) -> datetime:
    text = content.decode("ascii")
    if tag == _SHORT_YEAR:
        text = ("19" if text >= "50" else "20") + text
    return datetime.strptime(text, "%Y%m%d%H%M%SZ").replace(tzinfo=UTC)


def _name(content: bytes) -> str:
    """The last part first, and what belongs together with a +."""
    parts = [
        "+".join(_attribute(pair) for _, pair in _elements(together))
        for _, together in _elements(content)
    ]
    return ",".join(reversed(parts))


def _attribute(pair: bytes) -> str:
    (_, identifier), (tag, value) = _elements(pair)
    known = _dotted(identifier)
    text = re.sub(r'([\\"+,;<>])', r"\\\1", value.decode(_TEXT.get(tag, "utf-8"), "replace"))
    text = re.sub(r"^(#| (?=.))", r"\\\1", text.replace("\0", r"\00"), flags=re.DOTALL)
    text = re.sub(r" \Z", r"\\ ", text)
    return f"{_NAMES.get(known, known)}={text}"


def _dotted(identifier: bytes) -> str:
    numbers, number = [], 0
    for byte in identifier:
        number = number << 7 | byte & 0x7F
        if not byte & 0x80:
            numbers.append(number)
            number = 0
    first = min(numbers[0] // 40, 2)
    return ".".join(map(str, (first, numbers[0] - 40 * first, *numbers[1:])))
