"""State changes of placeholder users."""

import csv
import io
from collections.abc import Sequence

from sqlalchemy import bindparam, select

from ingot.accounts.users.queries import user_by_username_or_none
from ingot.accounts.users.tables import User
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.errors import Invalid
from ingot.import_export.tables import SourceUser, source_users
from ingot.import_export.users import assign

_BY_ID = select(source_users).where(source_users.c.id == bindparam("number"))
MAX_TABLE_BYTES = 10 * 2**20
_HEADINGS = (
    "Source host",
    "Import type",
    "Source user identifier",
    "Source user name",
    "Source username",
    "GitLab username",
    "GitLab public email",
)


def propose_assignment(db: Connection, actor: Actor, source_user: SourceUser, user: User) -> None:
    """Assign a placeholder to a user; if that is another one, they have to confirm, except for administrators."""
    _require_placeholder(source_user)
    if user.placeholder or user.bot or user.state != "active":
        raise Invalid(user_id=["is not an active user"])
    if actor.admin or user.id == actor.user_id:
        _complete(db, actor, source_user, user.id)
        return
    columns = {"status": "awaiting_approval", "reassign_to_user_id": user.id, "updated_at": db.now}
    db.update(source_users, source_user.id, reassigned_by_user_id=actor.user_id, **columns)


def accept_assignment(db: Connection, actor: Actor, source_user: SourceUser) -> SourceUser:
    """Assign a placeholder to the caller."""
    _require_placeholder(source_user)
    _complete(db, actor, source_user, actor.user_id)
    return db.first(SourceUser, _BY_ID, number=source_user.id) or source_user


def reject_assignment(db: Connection, source_user: SourceUser) -> None:
    """Keep a placeholder that was proposed to the caller."""
    _require_placeholder(source_user)
    db.update(source_users, source_user.id, status="rejected", reassign_to_user_id=None, updated_at=db.now)


def _complete(db: Connection, actor: Actor, source_user: SourceUser, user_id: int) -> None:
    db.update(source_users, source_user.id, reassigned_by_user_id=actor.user_id)
    assign(db, source_user.user_id, user_id)


def _require_placeholder(source_user: SourceUser) -> None:
    if not source_user.placeholder:
        raise Invalid("The user has already been assigned")


def placeholder_table(placeholders: Sequence[SourceUser]) -> str:
    """Return the placeholders as a CSV table, whose last columns are to be filled."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_HEADINGS)
    for each in placeholders:
        cells = (each.source_host, "import", each.source_key, each.source_name, each.source_username, "", "")
        writer.writerow([_plain_cell(cell) for cell in cells])
    return text.getvalue()


def _plain_cell(text: str) -> str:
    """Return a text that spreadsheets do not execute as a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def assign_from_table(db: Connection, actor: Actor, placeholders: Sequence[SourceUser], content: bytes) -> int:
    """Assign placeholders by a filled table; return how many. Raise Invalid, and change nothing, if it is not valid."""
    try:
        rows = list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"))))
    except (UnicodeDecodeError, csv.Error) as error:
        raise Invalid(file=["is not a CSV table"]) from error
    by_key = {(each.source_host, each.source_key): each for each in placeholders}
    count = 0
    for number, row in enumerate(rows, 2):
        username = (row.get("GitLab username") or "").strip()
        if not username:
            continue
        source_user = by_key.get((row.get("Source host") or "", row.get("Source user identifier") or ""))
        user = user_by_username_or_none(db, username)
        if source_user is None or user is None:
            what = "the source user" if source_user is None else "the user"
            raise Invalid(file=[f"line {number}: {what} was not found"])
        propose_assignment(db, actor, source_user, user)
        count += 1
    return count
