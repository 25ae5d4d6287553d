"""Software authenticator for passkeys, whose responses tests can falsify."""

import json
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from fido2 import cbor
from fido2.cose import ES256
from fido2.utils import websafe_decode, websafe_encode

PRESENT, VERIFIED, ATTESTED = 1, 4, 64


@dataclass
class Authenticator:
    """Authenticator with one passkey for one server."""

    origin: str
    rp_id: str = "localhost"
    credential_id: bytes = b"credential of the software authenticator"
    user_handle: bytes = b""
    sign_count: int = 0
    flags: int = PRESENT | VERIFIED
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))

    def create(self, options: dict[str, Any], **changes: Any) -> str:
        """Return the response to the options of a registration."""
        self.user_handle = websafe_decode(options["user"]["id"])
        public = ES256.from_cryptography_key(self.key.public_key())  # type: ignore[no-untyped-call]  # It has no types.
        attested = bytes(16) + len(self.credential_id).to_bytes(2, "big") + self.credential_id + cbor.encode(public)
        data = self._data(self.flags | ATTESTED, changes.get("rp_id", self.rp_id)) + attested
        attestation = cbor.encode({"fmt": "none", "attStmt": {}, "authData": data})
        return self._response(
            {
                "clientDataJSON": self._client_data("webauthn.create", options, changes),
                "attestationObject": websafe_encode(attestation),
            }
        )

    def get(self, options: dict[str, Any], **changes: Any) -> str:
        """Return the response to the options of a sign-in; ``changes`` falsify parts of it before it is signed."""
        client_data = self._client_data(changes.get("type", "webauthn.get"), options, changes)
        data = self._data(changes.get("flags", self.flags), changes.get("rp_id", self.rp_id))
        signed = data + sha256(websafe_decode(client_data)).digest()
        signature = changes.get("key", self.key).sign(signed, ec.ECDSA(hashes.SHA256()))
        return self._response(
            {
                "clientDataJSON": client_data,
                "authenticatorData": websafe_encode(data),
                "signature": websafe_encode(signature),
                "userHandle": websafe_encode(changes.get("user_handle", self.user_handle)),
            }
        )

    def _client_data(self, kind: str, options: dict[str, Any], changes: dict[str, Any]) -> str:
        content = {
            "type": kind,
            "challenge": changes.get("challenge", options["challenge"]),
            "origin": changes.get("origin", self.origin),
        }
        return websafe_encode(json.dumps(content).encode())

    def _data(self, flags: int, rp_id: str) -> bytes:
        return sha256(rp_id.encode()).digest() + bytes([flags]) + self.sign_count.to_bytes(4, "big")

    def _response(self, response: dict[str, str]) -> str:
        number = websafe_encode(self.credential_id)
        return json.dumps({"id": number, "rawId": number, "type": "public-key", "response": response})
