"""What references lead to, for who reads them: each kind with as many statements as it needs for one."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import select

from ingot.access.actor import Actor
from ingot.db.connection import Connection
from ingot.db.expressions import any_of
from ingot.db.times import day_of
from ingot.groups.namespaces.tables import Namespace, namespaces
from ingot.groups.policy import visible_groups
from ingot.markup.links import Link
from ingot.markup.references import Kind, Reference
from ingot.projects.tables import Project
from ingot.renderings.elsewhere import kept_elsewhere
from ingot.users.accounts.tables import User, users
from ingot.users.accounts.views import web_url

_PEOPLE = select(users).where(any_of(users.c.username_key, "names"), ~users.c.placeholder)
_ALL_GROUPS = select(namespaces).where(any_of(namespaces.c.full_path_key, "paths"), namespaces.c.kind == "group")
_GROUPS = {external: _ALL_GROUPS.where(visible_groups(external)) for external in (False, True)}


class Reader(NamedTuple):
    """Who reads a text, and where it stands."""

    db: Connection
    actor: Actor
    base_url: str
    project: Project | None


Finder = Callable[[Reader, Sequence[Reference]], Mapping[Reference, Link]]


def links_of(reader: Reader, references: Sequence[Reference]) -> list[Link | None]:
    """What each of them leads to; nothing where that is not there or not for the reader."""
    links = kept_elsewhere(reader.db, reader.project, references)
    for kind, find in _FINDERS.items():
        wanted = [reference for reference in references if reference.kind == kind and reference not in links]
        if wanted:
            links.update(find(reader, wanted))
    return [links.get(reference) for reference in references]


def _mentioned(reader: Reader, references: Sequence[Reference]) -> dict[Reference, Link]:
    """Users before groups of the same name, which there cannot be; ``@all`` are those of the project."""
    names = {reference.name.lower() for reference in references}
    known: dict[str, Link] = {}
    for group in _groups(reader, names):
        url = f"{reader.base_url}/groups/{group.full_path}"
        known[group.full_path.lower()] = Link(
            url, group.name, "gfm-project_member", f"@{group.full_path}", {"group": str(group.id)}
        )
    for user in _people(reader.db, names):
        url = web_url(user, reader.base_url)
        known[user.username.lower()] = Link(
            url, user.name, "gfm-project_member", f"@{user.username}", {"user": str(user.id)}
        )
    if reader.project is not None:
        url = f"{reader.base_url}/{reader.project.full_path}"
        known["all"] = Link(
            url, "All project and group members", "gfm-project_member", "@all", {"project": str(reader.project.id)}
        )
    return {reference: known[reference.name.lower()] for reference in references if reference.name.lower() in known}


def _people(db: Connection, names: Iterable[str]) -> list[User]:
    wanted = sorted(name for name in names if "/" not in name)
    return db.all(User, _PEOPLE, names=wanted) if wanted else []


def _groups(reader: Reader, paths: Iterable[str]) -> list[Namespace]:
    values: dict[str, Any] = {"paths": sorted(paths)}
    if reader.actor.admin:
        return reader.db.all(Namespace, _ALL_GROUPS, **values)
    values |= {"actor": reader.actor.user_id, "today": day_of(reader.db.now)}
    return reader.db.all(Namespace, _GROUPS[reader.actor.external], **values)


# Other rooms' kinds are added here as these rooms come.
_FINDERS: dict[Kind, Finder] = {"user": _mentioned}
