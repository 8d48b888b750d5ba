"""Certificates for tests: an authority of our own, and what it signs, as PEM files."""

from __future__ import annotations

import datetime
import ipaddress
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_DAY = datetime.timedelta(days=1)
NOW = datetime.datetime.now(datetime.UTC).replace(microsecond=0)
GOOD, OVER, AHEAD = (-1, 1), (-9, -2), (2, 9)
"""When a certificate is valid: days from now, begin and end."""


def day(number: int) -> datetime.datetime:
    """So many days from now."""
    return NOW + number * _DAY


class Authority:
    """A CA in a folder: ``ca.pem`` there is its certificate."""

    def __init__(self, folder: Path, name: str = "test CA", days: tuple[int, int] = GOOD) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.ca = folder / "ca.pem"
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _named(name)
        signed = self._sign(self._name, self._key.public_key(), [], days, ca=True)
        self.ca.write_bytes(signed.public_bytes(serialization.Encoding.PEM))

    def issue(
        self,
        name: str,
        *,
        address: str | None = None,
        password: str | None = None,
        days: tuple[int, int] = GOOD,
    ) -> tuple[Path, Path]:
        """
        A certificate and its key, as ``NAME.pem`` and ``NAME.key``.

        Args:
            name: The common name.
            address: The only IP address it is good for.
            password: Of the key (PKCS#8); without, the key is not encrypted.
            days: When it is valid.
        """
        key = ec.generate_private_key(ec.SECP256R1())
        names = [x509.IPAddress(ipaddress.ip_address(address))] if address else []
        signed = self._sign(_named(name), key.public_key(), names, days, ca=False)
        certificate, secret = self.folder / f"{name}.pem", self.folder / f"{name}.key"
        certificate.write_bytes(signed.public_bytes(serialization.Encoding.PEM))
        secret.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.BestAvailableEncryption(password.encode())
                if password
                else serialization.NoEncryption(),
            )
        )
        return certificate, secret

    def _sign(
        self,
        subject: x509.Name,
        key: ec.EllipticCurvePublicKey,
        names: list[x509.IPAddress],
        days: tuple[int, int],
        *,
        ca: bool,
    ) -> x509.Certificate:
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(day(days[0]))
            .not_valid_after(day(days[1]))
            .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
        )
        if names:
            builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
        return builder.sign(self._key, hashes.SHA256())


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
