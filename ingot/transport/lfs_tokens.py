"""Tokens of ``git-lfs-authenticate``: issued over SSH and used over HTTP.

A token is valid for one key, project and operation, and for half an hour. The permissions of the key are checked at
each use, so a token is invalid as soon as its key is.
"""

import base64
import binascii
import hmac
from functools import partial
from typing import Literal

import msgspec
from msgspec.structs import replace

from ingot.core.access.levels import Access
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp, add_duration
from ingot.core.errors import NotFound, Unauthenticated
from ingot.projects.projects.tables import Project
from ingot.transport.callers import Authenticate, GitCaller, caller_by_key

LfsOperation = Literal["download", "upload"]
PREFIX = "ingotl-"
LIFETIME_SECONDS = 1800
_PURPOSE = "lfs token"


class _TokenContent(msgspec.Struct, array_like=True):
    """Signed content of a token."""

    fingerprint: str
    project_id: int
    operation: LfsOperation
    expires_at: Timestamp


def lfs_authentication(
    db: Connection, caller: GitCaller, project: Project, operation: LfsOperation, base_url: str
) -> bytes:
    """Return the response to ``git-lfs-authenticate``: the address of the LFS API and a header with a token."""
    if caller.key is None:
        raise Unauthenticated
    content = _TokenContent(
        caller.key.fingerprint_sha256, project.id, operation, add_duration(db.now, seconds=LIFETIME_SECONDS)
    )
    encoded = base64.urlsafe_b64encode(msgspec.json.encode(content)).rstrip(b"=")
    token = f"{PREFIX}{encoded.decode()}.{db.vault.derive(_PURPOSE, encoded)}"
    basic = base64.b64encode(f"{caller.name.replace(' ', '-')}:{token}".encode()).decode()
    response = {
        "href": f"{base_url}/{project.full_path}.git/info/lfs",
        "header": {"Authorization": f"Basic {basic}"},
        "expires_in": LIFETIME_SECONDS,
    }
    return msgspec.json.encode(response) + b"\n"


def parse_lfs_token(secret: str) -> Authenticate | None:
    """Return the authentication by such a token; None for any other secret."""
    return partial(_caller_by_lfs_token, secret=secret) if secret.startswith(PREFIX) else None


def _caller_by_lfs_token(db: Connection, secret: str) -> GitCaller:
    encoded, _, signature = secret.removeprefix(PREFIX).partition(".")
    derived = db.vault.derive(_PURPOSE, encoded.encode("utf-8", "surrogatepass"))
    if not hmac.compare_digest(derived.encode(), signature.encode("utf-8", "surrogatepass")):
        raise Unauthenticated
    try:
        content = msgspec.json.decode(base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)), type=_TokenContent)
    except (binascii.Error, ValueError, msgspec.DecodeError):  # Signed by another version of Ingot.
        raise Unauthenticated from None
    if content.expires_at <= db.now:
        raise Unauthenticated
    caller = caller_by_key(db, content.fingerprint)

    def find(db: Connection, name: str) -> tuple[Access, Project]:
        access, project = caller.find(db, name)
        if project.id != content.project_id:
            raise NotFound("Project")
        return access, project

    return replace(caller, find=find, can_write=content.operation == "upload")
