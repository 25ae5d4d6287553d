"""How topics are found and listed: those that were described, and the names that visible projects carry.

A name that only hidden projects carry is not there at all, and they are in nobody else's counts.
"""

from functools import lru_cache
from typing import Any

import msgspec
from sqlalchemy import Select, Subquery, bindparam, case, func, or_, select

from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import contains, like_pattern
from ingot.core.db.paging import Listing, ListQuery, Page, fetch_page, list_query
from ingot.core.db.times import day_of
from ingot.errors import NotFound
from ingot.projects.projects.policy import visible_projects
from ingot.projects.projects.tables import project_topics, projects
from ingot.projects.topics.params import ListTopics
from ingot.projects.topics.tables import Topic, topics

_AUDIENCES: dict[str, tuple[Any, ...]] = {
    "administrators": (),
    "nobody": (projects.c.visibility == "public",),
    "external": (visible_projects(external=True),),
    "users": (visible_projects(external=False),),
}


def _audience(db: Connection, actor: Actor) -> tuple[str, dict[str, Any]]:
    """Which projects count for the caller, and what that is bound to."""
    if actor.admin:
        return "administrators", {}
    if not actor.known:
        return "nobody", {}
    return "external" if actor.external else "users", {"actor": actor.user_id, "today": day_of(db.now)}


@lru_cache(maxsize=256)
def _visible_topics(audience: str) -> Subquery:
    """Every topic that this audience sees, with how many projects it sees there."""
    uses = (
        select(
            project_topics.c.name_key,
            func.min(project_topics.c.name).label("name"),
            func.count().label("uses"),
        )
        .join(projects, projects.c.id == project_topics.c.project_id)
        .where(projects.c.namespace_id.is_not(None), *_AUDIENCES[audience])
        .group_by(project_topics.c.name_key)
        .subquery()
    )
    # Of a name that nobody described, each sees the spelling that is used where they look.
    return (
        select(
            topics.c.id,
            case((topics.c.described, topics.c.name), else_=uses.c.name).label("name"),
            topics.c.name_key,
            case((topics.c.described, topics.c.title), else_=uses.c.name).label("title"),
            topics.c.title_key,
            topics.c.description,
            topics.c.avatar_id,
            topics.c.avatar_file,
            func.coalesce(uses.c.uses, 0).label("projects_count"),
            topics.c.described,
        )
        .select_from(topics.outerjoin(uses, uses.c.name_key == topics.c.name_key))
        .where(or_(topics.c.described, uses.c.uses > 0))
        .subquery()
    )


@lru_cache(maxsize=256)
def _list_query(audience: str, search: bool, without_projects: bool) -> ListQuery:
    seen = _visible_topics(audience)
    matching = select(seen)
    if search:
        matching = matching.where(or_(contains(seen.c.name_key, "pattern"), contains(seen.c.title_key, "pattern")))
    if without_projects:
        matching = matching.where(seen.c.projects_count == 0)
    return list_query(matching, seen.c.id, seen.c.projects_count.desc(), seen.c.name_key.asc())


@lru_cache(maxsize=256)
def _by_id(audience: str) -> Select[Any]:
    seen = _visible_topics(audience)
    return select(seen).where(seen.c.id == bindparam("topic"))


@lru_cache(maxsize=256)
def _by_name(audience: str) -> Select[Any]:
    seen = _visible_topics(audience)
    return select(seen).where(seen.c.name_key == bindparam("name_key"))


def list_topics(db: Connection, actor: Actor, params: ListTopics, page: Page) -> Listing[Topic]:
    """A page of topics, those of the most projects first."""
    audience, values = _audience(db, actor)
    if params.search:
        values["pattern"] = like_pattern(params.search)
    query = _list_query(audience, bool(params.search), params.without_projects)
    # The order is that of a number which is not stored, so keys cannot lead from one page to the next.
    return fetch_page(db, Topic, query, msgspec.structs.replace(page, keyset=False), **values)


def topic_or_none(db: Connection, actor: Actor, topic_id: int) -> Topic | None:
    """The topic with this id, where the caller sees it."""
    audience, values = _audience(db, actor)
    return db.first(Topic, _by_id(audience), topic=topic_id, **values)


def find_topic(db: Connection, actor: Actor, topic_id: int) -> Topic:
    """The same, where there must be one."""
    topic = topic_or_none(db, actor, topic_id)
    if topic is None:
        raise NotFound("Topic")
    return topic


def topic_by_name_or_none(db: Connection, actor: Actor, name: str) -> Topic | None:
    """The topic of this name, whatever the case."""
    audience, values = _audience(db, actor)
    return db.first(Topic, _by_name(audience), name_key=name.strip().casefold(), **values)


def topic_id_by_key_or_none(db: Connection, name_key: str) -> int | None:
    """The row of a name, whoever sees it."""
    found: int | None = db.value(_ID_BY_KEY, key=name_key)
    return found


def topic_keys_of_project(db: Connection, project_id: int) -> list[str]:
    """The folded names that a project carries."""
    return [row[0] for row in db.rows(_KEYS_OF_PROJECT, project=project_id)]


def topic_avatar_or_none(db: Connection, topic_id: int) -> int | None:
    """The picture of a described topic."""
    avatar_id: int | None = db.value(_AVATAR, topic=topic_id)
    return avatar_id


_ID_BY_KEY = select(topics.c.id).where(topics.c.name_key == bindparam("key"))
_KEYS_OF_PROJECT = select(project_topics.c.name_key).where(project_topics.c.project_id == bindparam("project"))
_AVATAR = select(topics.c.avatar_id).where(topics.c.id == bindparam("topic"))
