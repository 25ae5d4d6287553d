"""Resolution of mentions in a text: users, the members of groups, and the project's members for ``@all``."""

import re
from collections.abc import Iterable

from sqlalchemy import bindparam, select

from ingot.accounts.users.queries import user_or_none
from ingot.accounts.users.tables import User, users
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Level
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.db.paging import Page
from ingot.core.markup.references import Reference, extract_references
from ingot.projects.groups.policy import visible_groups
from ingot.projects.members.params import ListMembers
from ingot.projects.namespaces.policy import is_unexpired
from ingot.projects.namespaces.tables import memberships, namespaces
from ingot.projects.projects.queries import project_or_none
from ingot.projects.sharing.queries import list_all_members, users_with_access

MAX_MENTIONED = 100
"""Limit of the users notified of one text, which also bounds mentions of large groups."""
_ALL = "all"
_BETWEEN = re.compile(r"[\s,;&]*+(?:and\s++)?+")
_USERS = (
    select(users.c.username_key, users.c.id)
    .where(in_list(users.c.username_key, "names"), users.c.state == "active", ~users.c.placeholder)
    .limit(bindparam("most"))
)
_MEMBERS = (
    select(namespaces.c.full_path_key, memberships.c.user_id)
    .join(memberships, (memberships.c.source_kind == "group") & (memberships.c.source_id == namespaces.c.id))
    .where(
        in_list(namespaces.c.full_path_key, "names"),
        namespaces.c.kind == "group",
        # Matched in the stored JSON, which has only values that differ from the defaults.
        ~namespaces.c.options_document.contains('"mentions_disabled":true', autoescape=True),
        is_unexpired(memberships.c.expires_at),
    )
    .order_by(memberships.c.id)
    .limit(bindparam("most"))
)
_VISIBLE_MEMBERS = {external: _MEMBERS.where(visible_groups(external)) for external in (False, True)}


def mentioned_users(db: Connection, writer_id: int, project_id: int, text: str) -> dict[int, bool]:
    """Map the ids of users mentioned in a text to whether the text begins with them, up to a limit."""
    if "@" not in text:
        return {}
    references = [reference for reference in extract_references(text) if reference.kind == "user"]
    names = list(dict.fromkeys(reference.name.lower() for reference in references))[:MAX_MENTIONED]
    writer = user_or_none(db, writer_id) if names else None
    if writer is None:
        return {}
    addressed = _addressed(text, references)
    mentioned: dict[int, bool] = {}
    for name, user_id in _user_ids_of(db, writer, project_id, names):
        if user_id in mentioned or len(mentioned) < MAX_MENTIONED:
            mentioned[user_id] = mentioned.get(user_id, False) or name in addressed
    return mentioned


def _user_ids_of(db: Connection, writer: User, project_id: int, names: list[str]) -> Iterable[tuple[str, int]]:
    """Yield the mentioned names with the ids of the users they refer to.

    Groups count if the writer can see them; ``@all`` counts if the writer is a member of the project.
    """
    usernames = [name for name in names if "/" not in name]
    user_ids = dict(db.rows(_USERS, names=usernames, most=MAX_MENTIONED)) if usernames else {}
    yield from ((name, user_ids[name]) for name in usernames if name in user_ids)
    group_names = [name for name in names if name not in user_ids and name != _ALL]
    if group_names:
        values = {"names": group_names, "most": MAX_MENTIONED, "today": db.today}
        if writer.admin:
            yield from db.rows(_MEMBERS, **values)
        else:
            yield from db.rows(_VISIBLE_MEMBERS[writer.external], **values, actor=writer.id)
    if _ALL in names and _ALL not in user_ids:
        yield from ((_ALL, user_id) for user_id in _project_members(db, writer, project_id))


def _project_members(db: Connection, writer: User, project_id: int) -> list[int]:
    project = project_or_none(db, project_id)
    if project is None or users_with_access(db, project, [writer.id]).get(writer.id, Level.NONE) < Level.GUEST:
        return []
    actor = Actor(writer.id, writer.username, writer.name, admin=writer.admin, external=writer.external)
    return [member.id for member in list_all_members(db, actor, project, ListMembers(), Page(size=MAX_MENTIONED)).items]


def _addressed(text: str, references: list[Reference]) -> set[str]:
    """Return the names that a text begins with, before any other words."""
    names: set[str] = set()
    position = 0
    for reference in references:
        if _BETWEEN.fullmatch(text, position, reference.start) is None:
            break
        names.add(reference.name.lower())
        position = reference.end
    return names
