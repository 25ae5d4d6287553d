"""Changing what users want to be told."""

import msgspec
from msgspec import UNSET
from sqlalchemy import bindparam, delete, text, update

from ingot.api.params import given
from ingot.db.connection import Connection
from ingot.errors import Invalid
from ingot.groups.namespaces.tables import memberships
from ingot.notifications.params import FLAGS, LEVELS, OWN_ACTIVITY, SetOwnWishes, SetWishes
from ingot.notifications.queries import EVERYWHERE, addresses_of_user, wish_or_none
from ingot.notifications.tables import notification_settings
from ingot.users.accounts.tables import User

_SAY = text(
    "INSERT INTO notification_settings (user_id, source_kind, source_id, level, events, email)"
    " VALUES (:user, :kind, :source, :level, :events, :email)"
    " ON CONFLICT (user_id, source_kind, source_id) DO UPDATE"
    " SET level = excluded.level, events = excluded.events, email = excluded.email"
)
_COPY = (
    update(memberships)
    .where(
        memberships.c.user_id == bindparam("user"),
        memberships.c.source_kind == bindparam("kind"),
        memberships.c.source_id == bindparam("source"),
    )
    .values(notification_level=bindparam("level"))
)
_OF_SOURCE = (notification_settings.c.source_kind == bindparam("kind")) & (
    notification_settings.c.source_id == bindparam("source")
)
_FORGET = delete(notification_settings).where(_OF_SOURCE, notification_settings.c.user_id == bindparam("user"))
_FORGET_ALL = delete(notification_settings).where(_OF_SOURCE)


def set_wishes(db: Connection, user: User, kind: str, source_id: int, wanted: SetWishes) -> None:
    """Keep what a user said of one place; what they said nothing of stays."""
    before = wish_or_none(db, user.id, kind, source_id)
    level = before.level if before else LEVELS["participating" if kind == EVERYWHERE else "global"]
    if wanted.level is not UNSET:
        level = LEVELS[wanted.level]
    if kind == EVERYWHERE and level == LEVELS["global"]:
        raise Invalid(level=["is invalid"])
    events = msgspec.json.decode(before.events, type=dict[str, bool]) if before else {}
    flags = (*FLAGS, OWN_ACTIVITY)
    events |= {name: value for name, value in given(wanted).items() if name in flags and value is not None}
    email = before.email if before else None
    if isinstance(wanted, SetOwnWishes) and wanted.notification_email is not UNSET:
        email = wanted.notification_email.strip().lower()
        if email not in addresses_of_user(db, user):
            raise Invalid(notification_email=["is not an email you own"])
    row = {"user": user.id, "kind": kind, "source": source_id}
    db.run(_SAY, **row, level=level, events=msgspec.json.encode(events).decode(), email=email)
    db.run(_COPY, **row, level=level)


def copy_wish(db: Connection, user_id: int, kind: str, source_id: int) -> None:
    """Who said something of a place before they belonged to it is shown as having said so."""
    wish = wish_or_none(db, user_id, kind, source_id)
    if wish is not None:
        db.run(_COPY, user=user_id, kind=kind, source=source_id, level=wish.level)


def forget_wish(db: Connection, user_id: int, kind: str, source_id: int) -> None:
    """Who does not belong to a place any more said nothing of it."""
    db.run(_FORGET, user=user_id, kind=kind, source=source_id)


def forget_wishes(db: Connection, kind: str, source_id: int) -> None:
    """Of what is gone nobody wants to hear."""
    db.run(_FORGET_ALL, kind=kind, source=source_id)
