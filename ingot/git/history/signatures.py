"""Signatures of commits and tags."""

from typing import Any, Literal, NamedTuple

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


class ObjectSignature(NamedTuple):
    """A signature, the signed bytes, and the address in whose name they were signed."""

    kind: Kind
    text: bytes
    payload: bytes
    signer_email: str
    signed_at: int
    """Time of the committer or tagger, in seconds since 1970."""


def commit_signature_or_none(repository: Repository, oid: str) -> ObjectSignature | None:
    """Return a commit's signature, or None if it is unsigned or of an unknown type."""
    commit: Any = open_repository(repository.path)[oid]
    signature, payload = commit.gpg_signature
    return _signature_or_none(signature or b"", payload or b"", commit.committer)


def tag_signature_or_none(repository: Repository, oid: str) -> ObjectSignature | None:
    """Return the signature of an annotated tag, or None; other objects have none."""
    tag: Any = open_repository(repository.path).get(oid)
    if tag is None or tag.type_str != "tag" or tag.tagger is None:
        return None
    content = tag.read_raw()
    start = signature_start(content)
    return _signature_or_none(content[start:], content[:start], tag.tagger)


def signature_start(content: bytes) -> int:
    """Return the position of the signature at the end of a tag, the last one as in git; its length without one."""
    last = max(content.rfind(b"\n" + header) for header, _ in _HEADERS)
    return last + 1 if last >= 0 else len(content)


def _signature_or_none(signature: bytes, payload: bytes, signer: Any) -> ObjectSignature | None:
    text = signature.lstrip()
    kind = next((kind for header, kind in _HEADERS if text.startswith(header)), None)
    return None if kind is None else ObjectSignature(kind, text, payload, str(signer.email), signer.time)
