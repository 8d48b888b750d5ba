"""Why a broker did not let us in: what its errors and TLS's mean, and what to do about each."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator, Sequence

import kafka.errors as kafka_errors

from ...model.deadline import within
from ...model.text import one_line

LOGIN_REFUSED = (
    kafka_errors.SaslAuthenticationFailedError,
    kafka_errors.UnsupportedSaslMechanismError,
    kafka_errors.IllegalSaslStateError,
    kafka_errors.AuthorizationError,
)

# OpenSSL, x509_vfy.h
_EXPIRED, _NAME_MISMATCH = (9, 10), (62, 63, 64)
_CERTIFICATE_ALERTS = (
    "CERTIFICATE_REQUIRED",
    "BAD_CERTIFICATE",
    "CERTIFICATE_UNKNOWN",
    "CERTIFICATE_EXPIRED",
    "UNKNOWN_CA",
    "HANDSHAKE_FAILURE",
)
_NO_TLS = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "UNEXPECTED_EOF", "HTTP_REQUEST")


_HERE = {
    "AWS_MSK_IAM": "Set AWS credentials and AWS_DEFAULT_REGION here, as for every AWS client.",
    "GSSAPI": "Check the ticket (klist) and sasl.kerberos.service.name.",
}
"""SASL mechanism -> what its login needs of this machine."""


def _is_ours(problem: BaseException | None) -> bool:
    """Whether no login could be made here; without credentials kafka-python misses an attribute."""
    package = type(problem).__module__.partition(".")[0]
    if isinstance(problem, AttributeError):
        return "get_frozen_credentials" in str(problem)
    wrong = isinstance(problem, kafka_errors.KafkaConfigurationError)
    return wrong or package in ("botocore", "gssapi")


def is_lasting(problem: BaseException | None) -> bool:
    """Whether asking again cannot help: a login refused often may lock an account."""
    if isinstance(problem, LOGIN_REFUSED) or _is_ours(problem):
        return True
    links = [link for link in _chain(problem) if isinstance(link, ssl.SSLError)]
    return any(isinstance(link, ssl.SSLCertVerificationError) or _is_alert(link) for link in links)


def is_outdated(causes: Sequence[BaseException]) -> bool:
    """Whether a certificate of the broker's chain is not valid now."""
    checked = [link for link in _links(causes) if isinstance(link, ssl.SSLCertVerificationError)]
    return any(link.verify_code in _EXPIRED for link in checked)


def is_cut(causes: Sequence[BaseException]) -> bool:
    """Whether the broker ended a conversation over TLS; the alert that says why may get lost on the way."""
    ends = (ssl.SSLEOFError, ConnectionResetError, BrokenPipeError)
    return any(
        isinstance(link, ends) or (isinstance(link, ssl.SSLError) and _is_alert(link))
        for link in _links(causes)
    )


def explain(
    causes: Sequence[BaseException], protocol: str, mechanism: str | None, *, tls_spoken: bool
) -> tuple[str, str] | None:
    """
    What happened and how to mend it; None for causes that are none of these.

    Args:
        causes: Errors of one attempt to connect, the telling one among them.
        protocol: The configured security protocol.
        mechanism: The configured SASL mechanism.
        tls_spoken: Whether the port speaks TLS, where the protocol does not.

    Returns:
        Words that go on "the cluster at this address ...", and the fix as a sentence.
    """
    refused = next((cause for cause in causes if isinstance(cause, LOGIN_REFUSED)), None)
    if refused is not None:
        return _login(refused, protocol, mechanism)
    ours = next((cause for cause in causes if _is_ours(cause)), None)
    if ours is not None:
        fix = _HERE.get(mechanism or "", "Check the sasl properties of its connection.")
        missing = "no AWS credentials are found" if isinstance(ours, AttributeError) else None
        return f"asks for a login that cannot be made here: {missing or brief(ours)}", fix
    links = _links(causes)
    for link in links:
        if isinstance(link, ssl.SSLCertVerificationError):
            return _certificate(link)
    if "SSL" in protocol:
        return _handshake(links, protocol)
    if tls_spoken:
        return (
            f"speaks TLS, and security.protocol is {protocol}",
            f"Set security.protocol to {'SASL_SSL' if 'SASL' in protocol else 'SSL'}.",
        )
    return None


def _login(refused: BaseException, protocol: str, mechanism: str | None) -> tuple[str, str]:
    if isinstance(refused, kafka_errors.IllegalSaslStateError):
        other = "SSL" if protocol == "SASL_SSL" else "PLAINTEXT"
        return (
            f"refused the login: it asks for none on this port, and security.protocol is {protocol}",
            f"Set security.protocol to {other}, or use the port for logins.",
        )
    if isinstance(refused, kafka_errors.UnsupportedSaslMechanismError):
        return (
            f"refused the login: it does not take sasl.mechanism {mechanism}",
            "Set sasl.mechanism to one that this port offers.",
        )
    fixes = {
        "OAUTHBEARER": "Check that it trusts the issuer, audience and scope of the token.",
        "AWS_MSK_IAM": "Check AWS credentials and region here, and kafka-cluster:Connect in IAM.",
        "GSSAPI": _HERE["GSSAPI"],
    }
    other = "Check sasl.mechanism, sasl.username and sasl.password of its connection."
    return f"refused the login: {brief(refused)}", fixes.get(mechanism or "", other)


def _certificate(problem: ssl.SSLCertVerificationError) -> tuple[str, str]:
    """Their certificate did not pass our checks; OpenSSL's words name the reason."""
    cause = problem.verify_message.rstrip(".")
    if problem.verify_code in _NAME_MISMATCH:
        return (
            f"shows a certificate for another host ({cause})",
            "Use a name or address that is in its certificate, or set "
            "ssl.endpoint.identification.algorithm to none.",
        )
    if problem.verify_code in _EXPIRED:
        return f"shows a certificate that is not valid now ({cause})", "Renew it, or set the clock."
    return (
        f"shows a certificate that is not trusted here ({cause})",
        "Set ssl.ca.location or ssl.ca.pem to the certificate of the CA that signed it.",
    )


def _handshake(links: Sequence[BaseException], protocol: str) -> tuple[str, str] | None:
    """They ended the conversation, with an alert of TLS or without."""
    tls_errors = [link for link in links if isinstance(link, ssl.SSLError)]
    alert = next((link for link in tls_errors if _is_alert(link)), None)
    if alert is not None:
        return (
            f"asks for a client certificate that it trusts ({_words(alert.reason)})",
            "Set ssl.certificate.location and ssl.key.location, signed by a CA it trusts.",
        )
    reasons = [link.reason or "" for link in tls_errors]
    early = any("Handshake failed" in str(link) for link in links)  # the library's words
    cut = any(isinstance(link, ssl.SSLEOFError | ConnectionResetError) for link in links)
    if (early and cut) or any(no_tls in reason for reason in reasons for no_tls in _NO_TLS):
        other = "SASL_PLAINTEXT" if "SASL" in protocol else "PLAINTEXT"
        return (
            f"does not speak TLS on this port, and security.protocol is {protocol}",
            f"Set security.protocol to {other}, or use the port for TLS.",
        )
    if reasons:
        why = f" ({_words(reasons[0])})" if reasons[0] else ""
        return (
            f"ended the TLS handshake{why}",
            "Check that it takes TLS 1.2 or newer.",
        )
    return None


def _is_alert(problem: ssl.SSLError) -> bool:
    """Whether they told us, by an alert of TLS, that our certificate is missing or not trusted."""
    return any(alert in (problem.reason or "") for alert in _CERTIFICATE_ALERTS)


def speaks_tls(address: str, seconds: float) -> bool:
    """Whether a server starts a TLS handshake, whatever comes of it. Nothing else is sent."""
    try:
        # what says nothing ends by itself first; this is for what says a byte now and then
        return within(2 * seconds, lambda: _greets(address, seconds))
    except OSError:
        return False


def _greets(address: str, seconds: float) -> bool:
    host, _, port = address.rpartition(":")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        with socket.create_connection((host.strip("[]"), int(port)), timeout=seconds) as plain:
            context.wrap_socket(plain).close()
    except ssl.SSLError as problem:
        return "ALERT" in (problem.reason or "")
    return True


def brief(problem: BaseException) -> str:
    """One line of a client library's error: its kind in words, and its text if it has one."""
    text = one_line(problem)
    name = type(problem).__name__
    if text.startswith("[Error "):  # kafka-python: "[Error 7] RequestTimedOutError: ..."
        text = text.partition("] ")[2]
    text = text.replace(f"{name}: {name}", name, 1)  # of a refused login it gives the kind twice
    return (text if text.startswith(name) else f"{name}: {text}" if text else name).rstrip(".")


def _words(reason: str) -> str:
    return reason.lower().replace("_", " ")


def _links(causes: Sequence[BaseException]) -> list[BaseException]:
    """The causes, each with what led to it."""
    return [link for cause in causes for link in _chain(cause)]


def _chain(problem: BaseException | None) -> Iterator[BaseException]:
    """An error and those behind it: kafka-python keeps them as argument or as context."""
    seen: set[int] = set()
    while problem is not None and id(problem) not in seen:
        seen.add(id(problem))
        yield problem
        inner = next((a for a in problem.args if isinstance(a, BaseException)), None)
        problem = inner or problem.__cause__ or problem.__context__
