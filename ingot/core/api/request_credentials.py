"""Credentials in the headers and parameters of requests."""

import base64
import binascii
from collections.abc import Mapping
from typing import Any

from ingot.core.access.credentials import Credentials

NO_CREDENTIALS = Credentials()


def read_credentials(
    headers: dict[bytes, bytes], sent: dict[str, Any], writes: bool, *, job_token: bool = False
) -> Credentials:
    """Return the credentials of a request; a token takes precedence over a cookie.

    The token of a job is ignored unless ``job_token`` is set.
    """
    token = _header(headers, b"private-token")
    if b"authorization" in headers and token is None:
        authorization = _header(headers, b"authorization") or ""
        if authorization[:7].lower() == "bearer ":
            token = authorization[7:].strip()
    sudo = _header(headers, b"sudo")
    if sent:
        token = _scalar_text(sent.get("private_token")) or _scalar_text(sent.get("access_token")) or token
        sudo = _scalar_text(sent.get("sudo")) or sudo
    token_of_job = None
    if job_token:
        token_of_job = _scalar_text(sent.get("job_token")) or _header(headers, b"job-token")
    session = _cookie(headers, b"_service_session") if b"cookie" in headers and not token else None
    if token is None and token_of_job is None and session is None and sudo is None:
        return NO_CREDENTIALS
    return Credentials(
        token=token,
        job_token=token_of_job,
        session=session,
        csrf=_header(headers, b"x-csrf-token"),
        sudo=sudo,
        writes=writes,
    )


def read_client_credentials(headers: dict[bytes, bytes], sent: dict[str, Any], writes: bool) -> Credentials:
    """Return the credentials of a client of packages: as for other calls, or a token of any kind.

    Such clients send any token by basic authentication, as a bearer or in ``Deploy-Token``.
    """
    if b"private-token" not in headers and b"job-token" not in headers:
        basic = basic_credentials(headers)
        if basic is not None:
            return Credentials(secret=basic[1], username=basic[0])
        authorization = _header(headers, b"authorization") or ""
        bearer = authorization[7:].strip() if authorization[:7].lower() == "bearer " else None
        secret = bearer or _header(headers, b"deploy-token")
        if secret:
            return Credentials(secret=secret)
    return read_credentials(headers, sent, writes, job_token=True)


def basic_credentials(headers: dict[bytes, bytes]) -> tuple[str, str] | None:
    """Return username and password of basic authentication; empty ones if they cannot be decoded."""
    scheme, _, encoded = headers.get(b"authorization", b"").partition(b" ")
    if scheme.lower() != b"basic":
        return None
    try:
        username, _, password = base64.b64decode(encoded.strip(), validate=True).decode().partition(":")
    except (binascii.Error, ValueError):
        return "", ""
    return username, password


def runner_token(headers: dict[bytes, bytes]) -> dict[str, Any]:
    """Return the token of a runner or job as a parameter."""
    token = _header(headers, b"job-token") or _header(headers, b"runner-token")
    return {} if token is None else {"token": token}


def header_params(headers: dict[bytes, bytes], names: Mapping[str, str]) -> dict[str, Any]:
    """Return the parameters that an endpoint takes from headers."""
    values = {parameter: _header(headers, header.encode()) for header, parameter in names.items()}
    return {parameter: value for parameter, value in values.items() if value is not None}


def _header(headers: dict[bytes, bytes], name: bytes) -> str | None:
    value = headers.get(name)
    return value.decode("latin-1").strip() or None if value else None


def _scalar_text(value: Any) -> str | None:
    """Return a scalar parameter as text; a list or hash is not a credential."""
    return str(value) or None if isinstance(value, str | int) and not isinstance(value, bool) else None


def _cookie(headers: dict[bytes, bytes], name: bytes) -> str | None:
    for part in headers.get(b"cookie", b"").split(b";"):
        key, _, value = part.strip().partition(b"=")
        if key == name:
            return value.decode("latin-1")
    return None
