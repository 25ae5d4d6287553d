"""Owners of many email addresses, found in one statement."""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import CompoundSelect, literal, select, union_all

from ingot.accounts.users.tables import emails, users
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list


def _owners(since: str) -> CompoundSelect[Any]:
    return union_all(
        select(emails.c.email, emails.c.user_id, literal(0)).where(
            in_list(emails.c.email, "emails"), emails.c[since].is_not(None)
        ),
        select(users.c.email, users.c.id, literal(1)).where(
            in_list(users.c.email, "emails"), users.c[since].is_not(None)
        ),
    )


# Unconfirmed addresses do not count: anyone could claim the commits of others with them.
_CONFIRMED, _PROVEN = _owners("confirmed_at"), _owners("proven_at")


def user_ids_by_emails(db: Connection, addresses: Iterable[str], *, proven: bool = False) -> dict[str, int]:
    """Return the ids of users by their confirmed email addresses in lower case; a primary address comes first.

    With ``proven``, addresses that count as confirmed without a proof do not count.
    """
    folded = sorted({address.strip().lower() for address in addresses})
    rows = db.rows(_PROVEN if proven else _CONFIRMED, emails=folded) if folded else []
    return {email: user_id for email, user_id, _ in sorted(rows, key=lambda row: row[2])}
