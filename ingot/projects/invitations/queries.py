"""Queries of pending invitations."""

from typing import Any

from sqlalchemy import and_, bindparam, select

from ingot.accounts.users.tables import users
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing, Page, fetch_page, list_query
from ingot.core.db.schema import Record
from ingot.core.db.times import Date, Timestamp, add_duration
from ingot.core.errors import NotFound
from ingot.projects.members.queries import MemberSource
from ingot.projects.namespaces.policy import is_unexpired
from ingot.projects.namespaces.tables import Invitation, invitations

VALID_DAYS = 90
"""Days for which an invitation can be accepted, unless its membership would end before."""
_PENDING = and_(is_unexpired(invitations.c.expires_at), invitations.c.created_at > bindparam("oldest"))
_OF_SOURCE = and_(invitations.c.source_kind == bindparam("kind"), invitations.c.source_id == bindparam("source"))
_BY_EMAIL = select(invitations).where(_OF_SOURCE, invitations.c.email == bindparam("email"))
_PENDING_BY_EMAIL = _BY_EMAIL.where(_PENDING)
_TO_EMAIL = select(invitations).where(_PENDING, invitations.c.email == bindparam("email")).order_by(invitations.c.id)
_BY_DIGEST = select(invitations).where(_PENDING, invitations.c.digest == bindparam("digest"))
_LISTED = (
    select(
        invitations.c.id,
        invitations.c.email,
        invitations.c.access_level,
        invitations.c.expires_at,
        invitations.c.created_at,
        users.c.name.label("created_by_name"),
    )
    .outerjoin(users, users.c.id == invitations.c.created_by_id)
    .where(_OF_SOURCE, _PENDING)
)
_ALL = list_query(_LISTED, invitations.c.id, invitations.c.id.asc())
_WITH_EMAIL = list_query(
    _LISTED.where(invitations.c.email == bindparam("email")), invitations.c.id, invitations.c.id.asc()
)


class ListedInvitation(Record, frozen=True):
    """Pending invitation with the name of the user who sent it."""

    id: int
    email: str
    access_level: int
    expires_at: Date | None
    created_at: Timestamp
    created_by_name: str | None


def pending_limits(db: Connection) -> dict[str, str]:
    """Return the values by which invitations are pending: today, and when the oldest of them can have been sent."""
    return {"today": db.today, "oldest": add_duration(db.now, days=-VALID_DAYS)}


def list_invitations(db: Connection, source: MemberSource, email: str, page: Page) -> Listing[ListedInvitation]:
    """List the pending invitations into a group or project, limited to an address unless it is empty."""
    values: dict[str, Any] = {"kind": source.kind, "source": source.id, **pending_limits(db)}
    if email:
        values["email"] = email.strip().lower()
    return fetch_page(db, ListedInvitation, _WITH_EMAIL if email else _ALL, page, **values)


def find_listed_invitation(db: Connection, source: MemberSource, email: str) -> ListedInvitation:
    """Return a pending invitation like those of ``list_invitations``; raise NotFound if there is none."""
    listing = list_invitations(db, source, email, Page(size=1))
    if not listing.items:
        raise NotFound("Invitation")
    return listing.items[0]


def find_invitation(db: Connection, source: MemberSource, email: str) -> Invitation:
    """Return the pending invitation of an address; raise NotFound if there is none."""
    found = db.first(
        Invitation,
        _PENDING_BY_EMAIL,
        kind=source.kind,
        source=source.id,
        email=email.strip().lower(),
        **pending_limits(db),
    )
    if found is None:
        raise NotFound("Invitation")
    return found


def invitation_or_none(db: Connection, source: MemberSource, email: str) -> Invitation | None:
    """Return the invitation of an address in lower case, even if it has expired."""
    return db.first(Invitation, _BY_EMAIL, kind=source.kind, source=source.id, email=email)


def invitations_to(db: Connection, email: str) -> list[Invitation]:
    """Return all pending invitations of an address in lower case."""
    return db.all(Invitation, _TO_EMAIL, email=email, **pending_limits(db))


def invitation_by_token_or_none(db: Connection, token: str) -> Invitation | None:
    """Return the pending invitation whose mail contains this token."""
    return db.first(Invitation, _BY_DIGEST, digest=db.vault.digest(token), **pending_limits(db))
