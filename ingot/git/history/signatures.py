"""Signatures of commits."""

from typing import Literal, NamedTuple

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


class CommitSignature(NamedTuple):
    """A signature, the signed bytes, and the address in whose name they were signed."""

    kind: Kind
    text: bytes
    payload: bytes
    committer_email: str


def commit_signature_or_none(repository: Repository, oid: str) -> CommitSignature | None:
    """Return a commit's signature, or None if it is unsigned or of an unknown type."""
    commit = open_repository(repository.path)[oid]
    signature, payload = commit.gpg_signature  # type: ignore[attr-defined] # It is a commit.
    text = (signature or b"").lstrip()
    kind = next((kind for header, kind in _HEADERS if text.startswith(header)), None)
    if kind is None:
        return None
    return CommitSignature(kind, text, payload or b"", str(commit.committer.email))
