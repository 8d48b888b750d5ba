"""Fields of certificates: as the library `cryptography` reads them, whoever they are of and however damaged."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.engine.adapters.kafka.x509 import of_der, of_pem

KEY = ec.generate_private_key(ec.SECP256R1())
OIDS = ("2.5.4.3", "2.5.4.8", "2.5.4.10", "0.9.2342.19200300.100.1.25", "1.2.840.113549.1.9.1")
DATES = st.datetimes(datetime(1951, 1, 1), datetime(2120, 1, 1)).map(
    lambda at: at.replace(microsecond=0, tzinfo=UTC)
)
TEXTS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=9) | st.sampled_from(
    [" ", "#", "  a  ", 'a,b+c"\\;<>', "ä\0", "x" * 60]
)
NAMES = st.lists(
    st.lists(
        st.tuples(st.sampled_from(OIDS), TEXTS), min_size=1, max_size=2, unique_by=lambda p: p[0]
    ),
    max_size=3,
).map(
    lambda parts: x509.Name(
        x509.RelativeDistinguishedName(
            x509.NameAttribute(x509.ObjectIdentifier(oid), text) for oid, text in part
        )
        for part in parts
    )
)


def signed(subject: x509.Name, issuer: x509.Name, begins: datetime, ends: datetime) -> bytes:
    """A certificate, as it is sent."""
    made = x509.CertificateBuilder(issuer, subject, KEY.public_key(), 7, begins, ends)
    return made.sign(KEY, hashes.SHA256()).public_bytes(serialization.Encoding.DER)


@given(NAMES, NAMES, DATES, st.timedeltas(timedelta(0), timedelta(9999)))
def test_fields_are_read_as_the_library_reads_them(subject, issuer, begins, lasts):
    """Any names, of several parts and with signs that mean something, and dates in both forms."""
    ends = begins + timedelta(seconds=int(lasts.total_seconds()))
    der = signed(subject, issuer, begins, ends)
    theirs = x509.load_der_x509_certificate(der)

    assert of_der(der) == (
        theirs.subject.rfc4514_string(),
        theirs.issuer.rfc4514_string(),
        theirs.not_valid_before_utc,
        theirs.not_valid_after_utc,
    )


NOBODY = x509.Name([])
WHOLE = signed(NOBODY, NOBODY, datetime(2026, 1, 1, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC))


@given(st.integers(0, len(WHOLE) - 1), st.binary(max_size=3))
def test_what_is_damaged_is_refused_or_read(at, other):
    """Whatever a server sends, the error is one that callers expect."""
    for der in (WHOLE[:at], WHOLE[:at] + other + WHOLE[at + len(other) :]):
        try:
            of_der(der)
        except ValueError:
            continue
        assert der is not WHOLE[:at]


def test_the_first_certificate_of_a_file_is_read():
    """Whatever stands before it."""
    pem = x509.load_der_x509_certificate(WHOLE).public_bytes(serialization.Encoding.PEM)

    assert of_pem(b"Bag Attributes\n" + pem + b"more") == of_der(WHOLE)
    with pytest.raises(ValueError, match="no certificate"):
        of_pem(b"-----BEGIN PRIVATE KEY-----")
