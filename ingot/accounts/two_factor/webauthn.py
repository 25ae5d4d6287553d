"""WebAuthn: the options that a page passes to the browser, and the verification of the browser's responses.

The library is imported when the first response arrives: it reads the list of public suffixes, and most processes never
need it.
"""

from base64 import urlsafe_b64encode
from collections.abc import Callable
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

import msgspec

from ingot.accounts.two_factor.tables import Passkey
from ingot.core.errors import Invalid
from ingot.core.log import log_failure

if TYPE_CHECKING:
    from fido2.server import Fido2Server

T = TypeVar("T")
# ES256, EdDSA and RS256: every authenticator supports at least one of them.
ALGORITHMS = (-7, -8, -257)
TIMEOUT_MILLISECONDS = 300_000
MAX_RESPONSE_BYTES = 32_768
_DEFAULT_PORTS = {"http": 80, "https": 443}


class RelyingParty(msgspec.Struct, frozen=True):
    """The server as authenticators know it: a domain name, and the only origin whose responses are accepted."""

    id: str
    origin: str


class NewCredential(msgspec.Struct, frozen=True):
    """A verified credential that a browser has created."""

    credential_id: bytes
    credential: bytes
    sign_count: int


class AssertedCredential(msgspec.Struct, frozen=True):
    """The identifiers in a response, before its signature has been verified."""

    credential_id: bytes
    user_handle: bytes | None


def relying_party_or_none(base_url: str) -> RelyingParty | None:
    """Return the relying party of a base URL; None if browsers offer no passkeys there.

    They require a domain name, and HTTPS except for localhost.
    """
    parts = urlsplit(base_url)
    host = parts.hostname or ""
    if not host or _is_ip_address(host):
        return None
    if parts.scheme != "https" and host != "localhost" and not host.endswith(".localhost"):
        return None
    port = "" if parts.port in (None, _DEFAULT_PORTS.get(parts.scheme)) else f":{parts.port}"
    return RelyingParty(host, f"{parts.scheme}://{host}{port}")


def _is_ip_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def creation_options(
    party: RelyingParty, challenge: str, user_handle: bytes, username: str, name: str, existing: list[Passkey]
) -> dict[str, Any]:
    """Return the options for ``navigator.credentials.create``, with bytes in base64url."""
    return {
        "challenge": challenge,
        "rp": {"id": party.id, "name": "Ingot"},
        "user": {"id": encode_bytes(user_handle), "name": username, "displayName": name},
        "pubKeyCredParams": [{"type": "public-key", "alg": algorithm} for algorithm in ALGORITHMS],
        "excludeCredentials": _descriptors(existing),
        "authenticatorSelection": {
            "residentKey": "required",
            "requireResidentKey": True,
            "userVerification": "required",
        },
        "attestation": "none",
        "timeout": TIMEOUT_MILLISECONDS,
    }


def request_options(
    party: RelyingParty, challenge: str, passkeys: list[Passkey], *, verify_user: bool
) -> dict[str, Any]:
    """Return the options for ``navigator.credentials.get``; without passkeys, the user chooses a discoverable one."""
    return {
        "challenge": challenge,
        "rpId": party.id,
        "allowCredentials": _descriptors(passkeys),
        "userVerification": "required" if verify_user else "discouraged",
        "timeout": TIMEOUT_MILLISECONDS,
    }


def _descriptors(passkeys: list[Passkey]) -> list[dict[str, str]]:
    return [{"type": "public-key", "id": encode_bytes(passkey.credential_id)} for passkey in passkeys]


def encode_bytes(content: bytes) -> str:
    """Encode bytes as browsers do in JSON: base64url without padding."""
    return urlsafe_b64encode(content).rstrip(b"=").decode()


def verify_registration(party: RelyingParty, challenge: str, response: str) -> NewCredential:
    """Verify the response to ``creation_options``; raise Invalid if it is malformed or not for this challenge."""

    def verify(server: "Fido2Server", content: dict[str, Any]) -> NewCredential:
        state = {"challenge": challenge, "user_verification": "required"}
        data = server.register_complete(state, content)
        credential = data.credential_data
        if credential is None or credential.public_key.get(3) not in ALGORITHMS:
            raise ValueError("algorithm")
        return NewCredential(bytes(credential.credential_id), bytes(credential), data.counter)

    return _verify(party, response, verify)


def read_assertion(party: RelyingParty, response: str) -> AssertedCredential:
    """Return the identifiers in a response, to find the passkey; raise Invalid if it is malformed."""

    def read(_: "Fido2Server", content: dict[str, Any]) -> AssertedCredential:
        from fido2.webauthn import AuthenticationResponse

        assertion = AuthenticationResponse.from_dict(content)
        return AssertedCredential(bytes(assertion.raw_id), assertion.response.user_handle or None)

    return _verify(party, response, read)


def verify_assertion(party: RelyingParty, challenge: str, passkey: Passkey, response: str, *, verify_user: bool) -> int:
    """Verify the response to ``request_options`` and return its sign count; raise Invalid if it is not valid."""

    def verify(server: "Fido2Server", content: dict[str, Any]) -> int:
        from fido2.webauthn import AttestedCredentialData, AuthenticationResponse

        state = {"challenge": challenge, "user_verification": "required" if verify_user else "discouraged"}
        server.authenticate_complete(state, [AttestedCredentialData(passkey.credential)], content)
        return AuthenticationResponse.from_dict(content).response.authenticator_data.counter

    return _verify(party, response, verify)


def _verify(party: RelyingParty, response: str, work: Callable[["Fido2Server", dict[str, Any]], T]) -> T:
    """Parse a response and verify it; every failure is one message, because each means that it cannot be trusted."""
    from fido2.server import Fido2Server
    from fido2.webauthn import PublicKeyCredentialRpEntity

    server = Fido2Server(
        PublicKeyCredentialRpEntity(id=party.id, name="Ingot"), verify_origin=lambda origin: origin == party.origin
    )
    try:
        if len(response) > MAX_RESPONSE_BYTES:
            raise ValueError("length")
        return work(server, msgspec.json.decode(response, type=dict[str, Any]))
    except Exception as error:  # The library raises errors of many types on malformed CBOR and keys.
        log_failure("passkey response rejected", error)
        raise Invalid(base=["The passkey was not accepted. Try again"]) from error
