"""Whom a text names: people, the members of groups, and with ``@all`` those of the project."""

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
from ingot.core.db.times import day_of
from ingot.core.markup.references import Reference, extract_references
from ingot.projects.groups.policy import visible_groups
from ingot.projects.members.params import ListMembers
from ingot.projects.namespaces.policy import is_unexpired
from ingot.projects.namespaces.tables import memberships, namespaces
from ingot.projects.projects.queries import project_or_none
from ingot.projects.sharing.queries import list_all_members, users_with_access

MAX_MENTIONED = 100
"""So many people hear of one text; who names more, and who names all of a large group, writes a list for readers."""
_ALL = "all"
_BETWEEN = re.compile(r"[\s,;&]*+(?:and\s++)?+")
_PEOPLE = (
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
        is_unexpired(memberships.c.expires_at),
    )
    .order_by(memberships.c.id)
    .limit(bindparam("most"))
)
_VISIBLE_MEMBERS = {external: _MEMBERS.where(visible_groups(external)) for external in (False, True)}


def mentioned_users(db: Connection, writer_id: int, project_id: int, text: str) -> dict[int, bool]:
    """Who is named in a text of a project, in no more than so many, and whether the text begins with them."""
    if "@" not in text:
        return {}
    found = [one for one in extract_references(text) if one.kind == "user"]
    names = list(dict.fromkeys(one.name.lower() for one in found))[:MAX_MENTIONED]
    writer = user_or_none(db, writer_id) if names else None
    if writer is None:
        return {}
    first = _addressed(text, found)
    named: dict[int, bool] = {}
    for name, user_id in _user_ids_of(db, writer, project_id, names):
        if user_id in named or len(named) < MAX_MENTIONED:
            named[user_id] = named.get(user_id, False) or name in first
    return named


def _user_ids_of(db: Connection, writer: User, project_id: int, names: list[str]) -> Iterable[tuple[str, int]]:
    """The users who are meant: of groups as far as who writes sees them, of all where they belong to the project."""
    people = [name for name in names if "/" not in name]
    known = dict(db.rows(_PEOPLE, names=people, most=MAX_MENTIONED)) if people else {}
    yield from ((name, known[name]) for name in people if name in known)
    rest = [name for name in names if name not in known and name != _ALL]
    if rest:
        values = {"names": rest, "most": MAX_MENTIONED, "today": day_of(db.now)}
        if writer.admin:
            yield from db.rows(_MEMBERS, **values)
        else:
            yield from db.rows(_VISIBLE_MEMBERS[writer.external], **values, actor=writer.id)
    if _ALL in names and _ALL not in known:
        yield from ((_ALL, user_id) for user_id in _project_members(db, writer, project_id))


def _project_members(db: Connection, writer: User, project_id: int) -> list[int]:
    project = project_or_none(db, project_id)
    if project is None or users_with_access(db, project, [writer.id]).get(writer.id, Level.NONE) < Level.GUEST:
        return []
    actor = Actor(writer.id, writer.username, writer.name, admin=writer.admin, external=writer.external)
    return [member.id for member in list_all_members(db, actor, project, ListMembers(), Page(size=MAX_MENTIONED)).items]


def _addressed(text: str, found: list[Reference]) -> set[str]:
    """The names that a text begins with, before anything else is said."""
    first: set[str] = set()
    position = 0
    for one in found:
        if _BETWEEN.fullmatch(text, position, one.start) is None:
            break
        first.add(one.name.lower())
        position = one.end
    return first
