"""Queries of topics: described ones, and names that visible projects use.

Names that only hidden projects use are not returned, and hidden projects are not counted.
"""

from functools import lru_cache
from typing import Any

import msgspec
from sqlalchemy import Select, Subquery, bindparam, case, func, or_, select

from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import contains, like_pattern
from ingot.core.db.paging import Listing, ListQuery, Page, fetch_page, list_query
from ingot.core.errors import NotFound
from ingot.projects.projects.policy import visible_projects
from ingot.projects.projects.tables import project_topics, projects
from ingot.projects.topics.params import ListTopics
from ingot.projects.topics.tables import Topic, topics

_AUDIENCES: dict[str, tuple[Any, ...]] = {
    "administrators": (),
    "anonymous": (projects.c.visibility == "public",),
    "external": (visible_projects(external=True),),
    "users": (visible_projects(external=False),),
}


def _audience(db: Connection, actor: Actor) -> tuple[str, dict[str, Any]]:
    """Return the caller's audience, which selects the projects that count, and its bind parameters."""
    if actor.admin:
        return "administrators", {}
    if not actor.known:
        return "anonymous", {}
    return "external" if actor.external else "users", {"actor": actor.user_id, "today": db.today}


@lru_cache(maxsize=256)
def _visible_topics(audience: str) -> Subquery:
    """Select every topic that this audience may see, with the number of visible projects."""
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
    # A topic without a description shows a spelling from visible projects; that of a hidden project would leak.
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
    visible = _visible_topics(audience)
    matching = select(visible)
    if search:
        matching = matching.where(
            or_(contains(visible.c.name_key, "pattern"), contains(visible.c.title_key, "pattern"))
        )
    if without_projects:
        matching = matching.where(visible.c.projects_count == 0)
    return list_query(matching, visible.c.id, visible.c.projects_count.desc(), visible.c.name_key.asc())


@lru_cache(maxsize=256)
def _by_id(audience: str) -> Select[Any]:
    visible = _visible_topics(audience)
    return select(visible).where(visible.c.id == bindparam("topic"))


@lru_cache(maxsize=256)
def _by_name(audience: str) -> Select[Any]:
    visible = _visible_topics(audience)
    return select(visible).where(visible.c.name_key == bindparam("name_key"))


def list_topics(db: Connection, actor: Actor, params: ListTopics, page: Page) -> Listing[Topic]:
    """List the topics, those with the most projects first."""
    audience, values = _audience(db, actor)
    if params.search:
        values["pattern"] = like_pattern(params.search)
    query = _list_query(audience, bool(params.search), params.without_projects)
    # The list is ordered by a computed count, for which keyset pagination is impossible.
    return fetch_page(db, Topic, query, msgspec.structs.replace(page, keyset=False), **values)


def topic_or_none(db: Connection, actor: Actor, topic_id: int) -> Topic | None:
    """Return the topic with this id if the caller may see it."""
    audience, values = _audience(db, actor)
    return db.first(Topic, _by_id(audience), topic=topic_id, **values)


def find_topic(db: Connection, actor: Actor, topic_id: int) -> Topic:
    """Return the topic with this id; raise NotFound if there is none or the caller may not see it."""
    topic = topic_or_none(db, actor, topic_id)
    if topic is None:
        raise NotFound("Topic")
    return topic


def topic_by_name_or_none(db: Connection, actor: Actor, name: str) -> Topic | None:
    """Return the topic with this name, ignoring case, if the caller may see it."""
    audience, values = _audience(db, actor)
    return db.first(Topic, _by_name(audience), name_key=name.strip().casefold(), **values)


def topic_id_by_key_or_none(db: Connection, name_key: str) -> int | None:
    """Return the id of the topic with this case-folded name, without a permission check."""
    topic_id: int | None = db.value(_ID_BY_KEY, key=name_key)
    return topic_id


def topic_keys_of_project(db: Connection, project_id: int) -> list[str]:
    """Return the case-folded names of a project's topics."""
    return [row[0] for row in db.rows(_KEYS_OF_PROJECT, project=project_id)]


def topic_avatar_or_none(db: Connection, topic_id: int) -> int | None:
    """Return the id of a topic's avatar."""
    avatar_id: int | None = db.value(_AVATAR, topic=topic_id)
    return avatar_id


_ID_BY_KEY = select(topics.c.id).where(topics.c.name_key == bindparam("key"))
_KEYS_OF_PROJECT = select(project_topics.c.name_key).where(project_topics.c.project_id == bindparam("project"))
_AVATAR = select(topics.c.avatar_id).where(topics.c.id == bindparam("topic"))
