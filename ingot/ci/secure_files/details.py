"""Facts about certificates and provisioning profiles, which responses and pages show."""

import base64
import plistlib
from datetime import UTC, datetime
from typing import Any, NamedTuple
from xml.parsers.expat import ExpatError

from cryptography import x509
from cryptography.hazmat.primitives.serialization import pkcs12

from ingot.core.db.times import Timestamp, timestamp

_PLIST_BEGIN, _PLIST_END = b"<?xml", b"</plist>"
_PEM = b"-----BEGIN CERTIFICATE-----"
_PROFILE_FIELDS = {
    "platforms": "Platform",
    "team_name": "TeamName",
    "team_id": "TeamIdentifier",
    "app_name": "AppIDName",
    "app_id": "Name",
    "app_id_prefix": "ApplicationIdentifierPrefix",
    "xcode_managed": "IsXcodeManaged",
    "entitlements": "Entitlements",
    "devices": "ProvisionedDevices",
}
_MAX_DEPTH = 32
_MAX_BITS = 63


class FileDetails(NamedTuple):
    """Facts about a file, and the time until which it is valid."""

    facts: dict[str, Any]
    expires_at: Timestamp | None


def file_extension(name: str) -> str | None:
    """Return the extension of a file name without the dot."""
    stem, dot, extension = name.rpartition(".")
    return extension if stem and dot and extension else None


def read_details(name: str, content: bytes) -> FileDetails | None:
    """Return the facts about a file by its extension; None for other files and those that cannot be read."""
    read = {"cer": _certificate, "p12": _key_store, "mobileprovision": _profile}.get(file_extension(name) or "")
    if read is None:
        return None
    try:
        return read(content)
    # The libraries raise all of these for malformed content, which may be uploaded nevertheless.
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, ExpatError, plistlib.InvalidFileException):
        return None


def _certificate(content: bytes) -> FileDetails:
    load = x509.load_pem_x509_certificate if _PEM in content else x509.load_der_x509_certificate
    return _facts_of(load(content))


def _key_store(content: bytes) -> FileDetails | None:
    """Return the facts about the certificate of a key store without a password."""
    for password in (None, b""):
        try:
            _, certificate, _ = pkcs12.load_key_and_certificates(content, password)
        except ValueError:  # It has a password, or no password in the other of two forms.
            continue
        return None if certificate is None else _facts_of(certificate)
    return None


def _facts_of(certificate: x509.Certificate) -> FileDetails:
    expires_at = timestamp(certificate.not_valid_after_utc)
    facts = {
        "id": str(certificate.serial_number),
        "issuer": _attributes(certificate.issuer),
        "subject": _attributes(certificate.subject),
        "expires_at": expires_at,
    }
    return FileDetails(facts, expires_at)


def _attributes(name: x509.Name) -> dict[str, str]:
    return {each.rfc4514_attribute_name: _text(each.value) for each in name}


def _text(value: str | bytes) -> str:
    return value if isinstance(value, str) else value.hex()


def _profile(content: bytes) -> FileDetails | None:
    """Return the facts in the property list of a profile, which is the signed content; the signature is not checked."""
    start, end = content.find(_PLIST_BEGIN), content.find(_PLIST_END)
    if start < 0 or end < start:
        return None
    properties = plistlib.loads(content[start : end + len(_PLIST_END)], fmt=plistlib.FMT_XML)
    if not isinstance(properties, dict):
        return None
    certificates = properties.get("DeveloperCertificates") or []
    expires = properties.get("ExpirationDate")
    expires_at = timestamp(expires.replace(tzinfo=UTC)) if isinstance(expires, datetime) else None
    facts: dict[str, Any] = {"id": _plain(properties.get("UUID")), "expires_at": expires_at}
    facts |= {name: _plain(properties.get(key)) for name, key in _PROFILE_FIELDS.items()}
    facts["certificate_ids"] = [_certificate(each).facts["id"] for each in certificates]
    return FileDetails(facts, expires_at)


def _plain(value: Any, depth: int = 0) -> Any:
    """Return a value of a property list as JSON has it."""
    if depth > _MAX_DEPTH:
        raise ValueError("The property list is nested too deep")
    if isinstance(value, dict):
        return {str(key): _plain(each, depth + 1) for key, each in value.items()}
    if isinstance(value, list):
        return [_plain(each, depth + 1) for each in value]
    if isinstance(value, datetime):
        return timestamp(value.replace(tzinfo=UTC))
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, int) and value.bit_length() > _MAX_BITS:
        return str(value)
    return value if isinstance(value, str | bool | int | float) or value is None else str(value)
