"""What git-lfs gets over SSH to go on over HTTP with: a token for one key, one project, one direction and a short time.

What the key opens is looked up at each use, so the token ends with it.
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
from ingot.errors import NotFound, Unauthenticated
from ingot.projects.projects.tables import Project
from ingot.transport.callers import Authenticate, GitCaller, caller_by_key

Operation = Literal["download", "upload"]
PREFIX = "ingotl-"
LIFETIME_SECONDS = 1800
_PURPOSE = "lfs token"


class _TokenContent(msgspec.Struct, array_like=True):
    fingerprint: str
    project_id: int
    operation: Operation
    ends_at: Timestamp


def lfs_authentication(
    db: Connection, caller: GitCaller, project: Project, operation: Operation, base_url: str
) -> bytes:
    """The answer to ``git-lfs-authenticate``: where to go, and what to show there."""
    if caller.key is None:
        raise Unauthenticated
    content = _TokenContent(
        caller.key.fingerprint_sha256, project.id, operation, add_duration(db.now, seconds=LIFETIME_SECONDS)
    )
    written = base64.urlsafe_b64encode(msgspec.json.encode(content)).rstrip(b"=")
    token = f"{PREFIX}{written.decode()}.{db.vault.derive(_PURPOSE, written)}"
    shown = base64.b64encode(f"{caller.name.replace(' ', '-')}:{token}".encode()).decode()
    way = {
        "href": f"{base_url}/{project.full_path}.git/info/lfs",
        "header": {"Authorization": f"Basic {shown}"},
        "expires_in": LIFETIME_SECONDS,
    }
    return msgspec.json.encode(way) + b"\n"


def lfs_token_authenticator(secret: str) -> Authenticate | None:
    """How such a token is proven."""
    return partial(_caller_by_lfs_token, secret=secret) if secret.startswith(PREFIX) else None


def _caller_by_lfs_token(db: Connection, secret: str) -> GitCaller:
    written, _, signature = secret.removeprefix(PREFIX).partition(".")
    derived = db.vault.derive(_PURPOSE, written.encode("utf-8", "surrogatepass"))
    if not hmac.compare_digest(derived.encode(), signature.encode("utf-8", "surrogatepass")):
        raise Unauthenticated
    try:
        content = msgspec.json.decode(base64.urlsafe_b64decode(written + "=" * (-len(written) % 4)), type=_TokenContent)
    except (binascii.Error, ValueError, msgspec.DecodeError):  # Signed by another version of ours.
        raise Unauthenticated from None
    if content.ends_at <= db.now:
        raise Unauthenticated
    caller = caller_by_key(db, content.fingerprint)

    def find(db: Connection, name: str) -> tuple[Access, Project]:
        access, project = caller.find(db, name)
        if project.id != content.project_id:
            raise NotFound("Project")
        return access, project

    return replace(caller, find=find, writes=content.operation == "upload")
