"""Time-based one-time passwords (RFC 6238)."""

import base64
import hashlib
import hmac
import secrets
from urllib.parse import quote, urlencode

STEP_SECONDS = 30
DIGITS = 6
_SECRET_BYTES = 20
# Accept the codes of the previous and the next step, because clocks differ.
_TOLERANCE = 1


def generate_secret() -> str:
    """Return a new secret in base32, the format that apps accept as input."""
    return base64.b32encode(secrets.token_bytes(_SECRET_BYTES)).decode()


def totp_code(secret: str, step: int) -> str:
    """Return the code of a time step."""
    digest = hmac.digest(base64.b32decode(secret), step.to_bytes(8, "big"), hashlib.sha1)
    start = digest[-1] & 15
    number = int.from_bytes(digest[start : start + 4], "big") & 0x7FFFFFFF
    return str(number % 10**DIGITS).zfill(DIGITS)


def matching_step(secret: str, code: str, seconds: float, after: int) -> int | None:
    """Return the time step that a code matches, if it is later than the last one that was used."""
    now = int(seconds // STEP_SECONDS)
    matching = [
        step
        for step in range(now - _TOLERANCE, now + _TOLERANCE + 1)
        if hmac.compare_digest(totp_code(secret, step), code) and step > after
    ]
    return matching[0] if matching else None


def otpauth_url(secret: str, issuer: str, account: str) -> str:
    """Return the content of the QR code."""
    label = quote(f"{issuer}:{account}", safe="@:")
    return f"otpauth://totp/{label}?{urlencode({'secret': secret, 'issuer': issuer})}"
