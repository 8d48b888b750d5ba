"""TLS as librdkafka's `ssl.*` properties describe it: whom to trust, and who we are."""

from __future__ import annotations

import os
import ssl
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from ...model.errors import ConfigError

_CA, _CERTIFICATE, _KEY = "ssl.ca", "ssl.certificate", "ssl.key"
"""Each is given as a file (`.location`) or as the text itself (`.pem`)."""

NAMES = frozenset(
    {
        *(f"{what}.{form}" for what in (_CA, _CERTIFICATE, _KEY) for form in ("location", "pem")),
        "ssl.key.password",
        "ssl.endpoint.identification.algorithm",
        "enable.ssl.certificate.verification",
    }
)
"""All properties that are read here."""

_NAMES, _VERIFIED = "ssl.endpoint.identification.algorithm", "enable.ssl.certificate.verification"
_SWITCHES: Mapping[str, tuple[Mapping[str, bool], str]] = {
    _NAMES: ({"https": True, "none": False, "": False}, "Use https or none."),
    _VERIFIED: (
        {"true": True, "t": True, "1": True, "false": False, "f": False, "0": False},
        "Use true or false.",
    ),
}
"""What each is set to, by word, the default first; and what to write."""


def context(properties: Mapping[str, str], where: str) -> ssl.SSLContext:
    """
    A client's context: TLS 1.2 or newer, brokers' certificates and names checked unless said not to.

    Without a CA of its own it trusts what this machine trusts.

    Args:
        properties: librdkafka names and values; others than `NAMES` are passed over.
        where: Whose properties they are, for the error.

    Raises:
        ConfigError: A file cannot be read, is no PEM, key and certificate do not belong together,
            or a value cannot be; keys and passwords are never shown.
    """
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.minimum_version = ssl.TLSVersion.TLSv1_2
    made.check_hostname = _is_on(_NAMES, properties, where)
    if not _is_on(_VERIFIED, properties, where):
        made.check_hostname = False
        made.verify_mode = ssl.CERT_NONE
    _trust(made, properties, where)
    _identify(made, properties, where)
    return made


def _is_on(name: str, properties: Mapping[str, str], where: str) -> bool:
    words, fix = _SWITCHES[name]
    value = properties.get(name, next(iter(words))).lower()
    if value not in words:
        raise ConfigError(f"{where}: {name} is {properties[name]!r}.", fix=fix)
    return words[value]


def _trust(made: ssl.SSLContext, properties: Mapping[str, str], where: str) -> None:
    name = _given(_CA, properties, where)
    if name is None:
        made.load_default_certs()
        return
    value = properties[name]
    try:
        if name.endswith(".pem"):
            made.load_verify_locations(cadata=value)
        elif os.path.isdir(value):
            made.load_verify_locations(capath=_readable(name, value, where))
        else:
            made.load_verify_locations(cafile=_readable(name, value, where))
    except (ssl.SSLError, ValueError):
        raise ConfigError(
            f"{where}: {_name_and_place(name, value)} holds no PEM certificate.",
            fix="Give the certificate of the CA that signed the brokers', in PEM form.",
        ) from None


def _identify(made: ssl.SSLContext, properties: Mapping[str, str], where: str) -> None:
    """Load our own certificate; a key within the certificate's file need not be given again."""
    certificate, key = _given(_CERTIFICATE, properties, where), _given(_KEY, properties, where)
    if certificate is None:
        if key is not None or "ssl.key.password" in properties:
            raise ConfigError(
                f"{where}: a key is given without a certificate.",
                fix="Add ssl.certificate.location or ssl.certificate.pem.",
            )
        return
    names = [certificate, *([key] if key is not None else [])]
    # without a function that answers, OpenSSL would ask for the password on the terminal
    password = properties.get("ssl.key.password", "")
    with ExitStack() as kept:
        paths = [kept.enter_context(_path(name, properties[name], where)) for name in names]
        try:
            made.load_cert_chain(paths[0], paths[-1], lambda: password)
        except (ssl.SSLError, ValueError) as problem:
            both = " and ".join(_name_and_place(name, properties[name]) for name in names)
            raise _unusable(both, problem, bool(password), where) from None


def _unusable(names: str, problem: Exception, has_password: bool, where: str) -> ConfigError:
    reason = getattr(problem, "reason", None) or ""
    if reason == "KEY_VALUES_MISMATCH":
        return ConfigError(
            f"{where}: {names} do not belong together.",
            fix="Give the key that the certificate was made for.",
        )
    # a wrong password and a text that is no PEM at all can have the same reason
    told = "" if has_password else ", or ssl.key.password is missing"
    wrong = ", or ssl.key.password is wrong" if has_password else told
    return ConfigError(
        f"{where}: {names} cannot be used as PEM certificate and key{wrong}.",
        fix="Check them with `openssl x509 -in ...` and `openssl pkey -in ...`.",
    )


def _given(what: str, properties: Mapping[str, str], where: str) -> str | None:
    """Which form a thing is given in, None for neither."""
    forms = [name for name in (f"{what}.location", f"{what}.pem") if name in properties]
    if len(forms) > 1:
        raise ConfigError(f"{where}: {' and '.join(forms)} are both given.", fix="Leave one out.")
    return forms[0] if forms else None


def _name_and_place(name: str, value: str) -> str:
    return f"{name} ({value})" if name.endswith(".location") else name


def _readable(name: str, value: str, where: str) -> str:
    if not os.access(value, os.R_OK):
        raise ConfigError(
            f"{where}: {name} names {value}, which cannot be read.", fix="Correct it."
        )
    return value


@contextmanager
def _path(name: str, value: str, where: str) -> Iterator[str]:
    """A path to read; a text gets one in memory, where there is that, so that no disk sees a key."""
    if name.endswith(".location"):
        yield _readable(name, value, where)
    elif hasattr(os, "memfd_create"):
        number = os.memfd_create(name, os.MFD_CLOEXEC)
        with open(number, "wb") as file:
            file.write(value.encode())
            file.flush()
            yield f"/proc/self/fd/{number}"
    else:
        number, path = tempfile.mkstemp()  # readable by its owner only
        try:
            with open(number, "wb") as file:
                file.write(value.encode())
            yield path
        finally:
            Path(path).unlink()
