"""How topics are found and listed: those that were described, and the names that visible projects carry.

A name that only hidden projects carry is not there at all, and they are in nobody else's counts.
"""

from functools import cache
from typing import Any

import msgspec
from sqlalchemy import Select, Subquery, bindparam, exists, func, null, or_, select, union_all

from ingot.access.actor import Actor
from ingot.db.connection import Connection
from ingot.db.expressions import contains, like_pattern
from ingot.db.paging import Listing, ListQuery, Page, fetch_page, list_query
from ingot.db.times import day_of
from ingot.errors import NotFound
from ingot.projects.policy import visible_projects
from ingot.projects.tables import project_topics, projects
from ingot.topics.params import ListTopics
from ingot.topics.tables import Topic, topics

# Names without a row have ids from here on. Each follows from the name alone, so it stays the same from one call
# to the next; and it takes the instance's secret to compute one, so nobody finds two names with the same.
FIRST_OF_NAMES = 2**52
_HEX_DIGITS = 13

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


@cache
def _seen(audience: str) -> Subquery:
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
    described = select(
        topics.c.id,
        topics.c.name,
        topics.c.name_key,
        topics.c.title,
        topics.c.title_key,
        topics.c.description,
        topics.c.avatar_id,
        topics.c.avatar_file,
        func.coalesce(uses.c.uses, 0).label("projects_count"),
    ).select_from(topics.outerjoin(uses, uses.c.name_key == topics.c.name_key))
    named = select(
        null(), uses.c.name, uses.c.name_key, uses.c.name, uses.c.name_key, null(), null(), null(), uses.c.uses
    ).where(~exists().where(topics.c.name_key == uses.c.name_key))
    return union_all(described, named).subquery()


@cache
def _list_query(audience: str, search: bool, without_projects: bool) -> ListQuery:
    seen = _seen(audience)
    matching = select(seen)
    if search:
        matching = matching.where(or_(contains(seen.c.name_key, "pattern"), contains(seen.c.title_key, "pattern")))
    if without_projects:
        matching = matching.where(seen.c.projects_count == 0)
    return list_query(matching, seen.c.id, seen.c.projects_count.desc(), seen.c.name_key.asc())


@cache
def _by_id(audience: str) -> Select[Any]:
    seen = _seen(audience)
    return select(seen).where(seen.c.id == bindparam("topic"))


@cache
def _by_name(audience: str) -> Select[Any]:
    seen = _seen(audience)
    return select(seen).where(seen.c.name_key == bindparam("name_key"))


@cache
def _all(audience: str) -> Select[Any]:
    return select(_seen(audience))


def number_of_name(db: Connection, name_key: str) -> int:
    """The id of a topic that has no row."""
    return FIRST_OF_NAMES + int(db.vault.derive("topic", name_key.encode())[:_HEX_DIGITS], 16)


def list_topics(db: Connection, actor: Actor, wanted: ListTopics, page: Page) -> Listing[Topic]:
    """A page of topics, those of the most projects first."""
    audience, values = _audience(db, actor)
    if wanted.search:
        values["pattern"] = like_pattern(wanted.search)
    query = _list_query(audience, bool(wanted.search), wanted.without_projects)
    # Not every topic has a row, so keys cannot lead from one page to the next.
    return fetch_page(db, Topic, query, msgspec.structs.replace(page, keyset=False), **values)


def topic_or_none(db: Connection, actor: Actor, topic_id: int) -> Topic | None:
    """The topic with this id; that of a name keeps leading to it when it gets a row."""
    audience, values = _audience(db, actor)
    if topic_id < FIRST_OF_NAMES:
        return db.first(Topic, _by_id(audience), topic=topic_id, **values)
    found = db.all(Topic, _all(audience), **values)
    return next((topic for topic in found if number_of_name(db, topic.name_key) == topic_id), None)


def find_topic(db: Connection, actor: Actor, topic_id: int) -> Topic:
    """The same, where there must be one."""
    topic = topic_or_none(db, actor, topic_id)
    if topic is None:
        raise NotFound("Topic")
    return topic


def topic_by_name(db: Connection, actor: Actor, name: str) -> Topic | None:
    """The topic of this name, whatever the case."""
    audience, values = _audience(db, actor)
    return db.first(Topic, _by_name(audience), name_key=name.strip().casefold(), **values)


def topic_avatar(db: Connection, topic_id: int) -> int | None:
    """The picture of a described topic."""
    avatar_id: int | None = db.value(_AVATAR, topic=topic_id)
    return avatar_id


_AVATAR = select(topics.c.avatar_id).where(topics.c.id == bindparam("topic"))
