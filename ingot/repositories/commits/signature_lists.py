"""Signatures of the commits and tags in lists on pages."""

from collections.abc import Callable, Iterable

from ingot.core.db.connection import Connection
from ingot.git.core.repository import Repository
from ingot.git.history.signatures import (
    ObjectSignature,
    commit_signature_or_none,
    signature_start,
    tag_signature_or_none,
)
from ingot.repositories.commits.signatures import check_signatures
from ingot.repositories.commits.views import SignatureView, signature_view


def commit_badges(db: Connection, repository: Repository, oids: Iterable[str]) -> dict[str, SignatureView]:
    """Return the verified or rejected signatures of commits by their ids; unsigned ones have none."""
    return _badges(db, repository, oids, commit_signature_or_none)


def tag_badges(db: Connection, repository: Repository, oids: Iterable[str]) -> dict[str, SignatureView]:
    """Return the verified or rejected signatures of tags by the ids of their objects."""
    return _badges(db, repository, oids, tag_signature_or_none)


def _badges(
    db: Connection,
    repository: Repository,
    oids: Iterable[str],
    read: Callable[[Repository, str], ObjectSignature | None],
) -> dict[str, SignatureView]:
    signatures = {oid: signature for oid in oids if (signature := read(repository, oid)) is not None}
    checks = check_signatures(db, signatures)
    return {oid: signature_view(signatures[oid].kind, check) for oid, check in checks.items()}


def without_signature(message: str) -> str:
    """Return the message of a tag without the signature at its end."""
    content = message.encode()
    return content[: signature_start(content)].decode().rstrip()
