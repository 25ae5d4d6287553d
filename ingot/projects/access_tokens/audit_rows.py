"""Rows of the calls that changed something, made with tokens."""

import re
from typing import Any

from sqlalchemy import select

from ingot.accounts.tokens.tables import access_tokens, token_audit_events
from ingot.core.api.call_log import CallOwner
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.projects.access_tokens.audit_log import LoggedCall
from ingot.projects.namespaces.tables import namespaces
from ingot.projects.projects.tables import projects

_TOKENS = select(access_tokens.c.id, access_tokens.c.user_id, access_tokens.c.name).where(
    in_list(access_tokens.c.id, "tokens")
)
_PATHS = {
    "projects": select(projects.c.id, projects.c.full_path).where(in_list(projects.c.id, "ids")),
    "groups": select(namespaces.c.id, namespaces.c.full_path).where(in_list(namespaces.c.id, "ids")),
}
_ID = re.compile("[0-9]{1,18}")


def insert_calls(db: Connection, calls: list[LoggedCall]) -> None:
    """Insert a row for each call of a token that still exists."""
    token_ids = sorted({logged.call.actor.token_id for logged in calls})
    tokens = {token_id: (user_id, name) for token_id, user_id, name in db.rows(_TOKENS, tokens=token_ids)}
    paths = _paths(db, {logged.call.owner for logged in calls if logged.call.owner is not None})
    rows: list[dict[str, Any]] = [
        {
            "user_id": tokens[call.actor.token_id][0],
            "token_id": call.actor.token_id,
            "token_name": tokens[call.actor.token_id][1],
            "method": call.method,
            "route": call.route,
            "entity_path": paths[call.owner] if call.owner is not None else None,
            "status": call.status,
            "ip_address": call.address,
            "created_at": at,
        }
        for call, at in calls
        if call.actor.token_id in tokens
    ]
    if rows:
        db.insert_many(token_audit_events, rows)


def _paths(db: Connection, owners: set[CallOwner]) -> dict[CallOwner, str]:
    """Return the paths of projects and groups; that of a deleted one is its number."""
    paths = {owner: owner.value for owner in owners}
    for kind, query in _PATHS.items():
        ids = sorted({int(value) for of_kind, value in owners if of_kind == kind and _ID.fullmatch(value)})
        if ids:
            paths |= {CallOwner(kind, str(number)): path for number, path in db.rows(query, ids=ids)}
    return paths
