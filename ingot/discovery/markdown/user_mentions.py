"""Who is mentioned in a text."""

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import select

from ingot.accounts.users.tables import User, users
from ingot.accounts.users.views import web_url
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.db.times import day_of
from ingot.core.markup.links import Link
from ingot.core.markup.references import Reference
from ingot.discovery.markdown.reader_context import ReferenceContext
from ingot.projects.groups.policy import visible_groups
from ingot.projects.namespaces.tables import Namespace, namespaces

_PEOPLE = select(users).where(in_list(users.c.username_key, "names"), ~users.c.placeholder)
_ALL_GROUPS = select(namespaces).where(in_list(namespaces.c.full_path_key, "paths"), namespaces.c.kind == "group")
_GROUPS = {external: _ALL_GROUPS.where(visible_groups(external)) for external in (False, True)}
_CSS_CLASS = "gfm-project_member"


def find_mentions(reader: ReferenceContext, references: Sequence[Reference]) -> dict[Reference, Link]:
    """Users before groups of the same name, which there cannot be; ``@all`` are those of the project."""
    names = {reference.name.lower() for reference in references}
    known: dict[str, Link] = {}
    for group in _groups(reader, names):
        url = f"{reader.base_url}/groups/{group.full_path}"
        known[group.full_path.lower()] = Link(
            url, group.name, _CSS_CLASS, f"@{group.full_path}", {"group": str(group.id)}
        )
    for user in _users_by_name(reader.db, names):
        url = web_url(user, reader.base_url)
        known[user.username.lower()] = Link(url, user.name, _CSS_CLASS, f"@{user.username}", {"user": str(user.id)})
    if reader.project is not None:
        url = f"{reader.base_url}/{reader.project.full_path}"
        data = {"project": str(reader.project.id)}
        known["all"] = Link(url, "All project and group members", _CSS_CLASS, "@all", data)
    return {reference: known[reference.name.lower()] for reference in references if reference.name.lower() in known}


def _users_by_name(db: Connection, names: Iterable[str]) -> list[User]:
    wanted = sorted(name for name in names if "/" not in name)
    return db.all(User, _PEOPLE, names=wanted) if wanted else []


def _groups(reader: ReferenceContext, paths: Iterable[str]) -> list[Namespace]:
    values: dict[str, Any] = {"paths": sorted(paths)}
    if reader.actor.admin:
        return reader.db.all(Namespace, _ALL_GROUPS, **values)
    values |= {"actor": reader.actor.user_id, "today": day_of(reader.db.now)}
    return reader.db.all(Namespace, _GROUPS[reader.actor.external], **values)
