"""Lookup of mentioned users and groups."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from sqlalchemy import select

from ingot.accounts.users.tables import User, users
from ingot.accounts.users.views import web_url
from ingot.collaboration.markdown.reader_context import ReferenceContext
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.markup.links import Link
from ingot.core.markup.references import Reference
from ingot.projects.groups.policy import visible_groups
from ingot.projects.namespaces.tables import Namespace, namespaces

_USERS_BY_NAME = select(users).where(in_list(users.c.username_key, "names"), ~users.c.placeholder)
_ALL_GROUPS = select(namespaces).where(in_list(namespaces.c.full_path_key, "paths"), namespaces.c.kind == "group")
_GROUPS = {external: _ALL_GROUPS.where(visible_groups(external)) for external in (False, True)}
_CSS_CLASS = "gfm-project_member"


def find_mentions(reader: ReferenceContext, references: Sequence[Reference]) -> dict[Reference, Link]:
    """Find mentioned users and groups, which never share a name; ``@all`` refers to the members of the project."""
    names = {reference.name.lower() for reference in references}
    links_by_name: dict[str, Link] = {}
    for user in _users_by_name(reader.db, names):
        url = web_url(user, reader.base_url)
        links_by_name[user.username.lower()] = Link(
            url, user.name, _CSS_CLASS, f"@{user.username}", {"user": str(user.id)}
        )
    for group in _groups(reader, names - links_by_name.keys()):
        url = f"{reader.base_url}/groups/{group.full_path}"
        links_by_name[group.full_path.lower()] = Link(
            url, group.name, _CSS_CLASS, f"@{group.full_path}", {"group": str(group.id)}
        )
    if reader.project is not None:
        url = f"{reader.base_url}/{reader.project.full_path}"
        data = {"project": str(reader.project.id)}
        links_by_name["all"] = Link(url, "All project and group members", _CSS_CLASS, "@all", data)
    return {
        reference: links_by_name[reference.name.lower()]
        for reference in references
        if reference.name.lower() in links_by_name
    }


def _users_by_name(db: Connection, names: Iterable[str]) -> list[User]:
    usernames = sorted(name for name in names if "/" not in name)
    return db.all(User, _USERS_BY_NAME, names=usernames) if usernames else []


def _groups(reader: ReferenceContext, paths: Collection[str]) -> list[Namespace]:
    if not paths:
        return []
    values: dict[str, Any] = {"paths": sorted(paths)}
    if reader.actor.admin:
        return reader.db.all(Namespace, _ALL_GROUPS, **values)
    values |= {"actor": reader.actor.user_id, "today": reader.db.today}
    return reader.db.all(Namespace, _GROUPS[reader.actor.external], **values)
