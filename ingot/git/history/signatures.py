"""Signature types of commits."""

from typing import Literal

from ingot.git.core.library import open_repository
from ingot.git.core.repository import Repository

Kind = Literal["PGP", "X509", "SSH"]
_HEADERS: tuple[tuple[bytes, Kind], ...] = (
    (b"-----BEGIN SSH SIGNATURE", "SSH"),
    (b"-----BEGIN SIGNED MESSAGE", "X509"),
    (b"-----BEGIN CMS", "X509"),
    (b"-----BEGIN PKCS7", "X509"),
    (b"-----BEGIN PGP", "PGP"),
)


def signature_kind_or_none(repository: Repository, oid: str) -> Kind | None:
    """Return the type of a commit's signature, or None if it is unsigned or of an unknown type."""
    signature, _ = open_repository(repository.path)[oid].gpg_signature  # type: ignore[attr-defined] # It is a commit.
    text = (signature or b"").lstrip()
    return next((kind for header, kind in _HEADERS if text.startswith(header)), None)
