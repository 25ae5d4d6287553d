"""How starrers, shares and the memberships of a user are found."""

from collections.abc import Collection
from functools import lru_cache
from typing import Any

from sqlalchemy import and_, bindparam, func, or_, select, union_all

from ingot.access.actor import Actor
from ingot.access.levels import Access, Level
from ingot.db.connection import Connection
from ingot.db.expressions import any_of, contains, like_pattern
from ingot.db.paging import Listing, ListQuery, Page, fetch_page, list_query
from ingot.db.schema import Record
from ingot.db.times import Timestamp, day_of
from ingot.groups.members.params import ListMembers
from ingot.groups.members.queries import Ways, by_share, find_member, list_members
from ingot.groups.members.records import Member
from ingot.groups.namespaces.policy import counts_today
from ingot.groups.namespaces.tables import memberships, namespaces
from ingot.groups.shares.people import BY_INVITATION, INVITED, seen_of
from ingot.projects.policy import may_see_project
from ingot.projects.queries import source_of
from ingot.projects.tables import Project, Share, projects, shares, stars
from ingot.users.accounts.queries import users_by_ids
from ingot.users.accounts.tables import users


class Starrer(Record, frozen=True):
    """A user together with when they starred."""

    id: int
    username: str
    name: str
    state: str
    avatar_id: int | None
    avatar_file: str | None
    starred_since: Timestamp


class NamedMembership(Record, frozen=True):
    """A membership together with the name of its group or project."""

    id: int
    source_kind: str
    source_id: int
    source_name: str
    access_level: int


_SHARE = (
    select(shares, namespaces.c.name, namespaces.c.full_path)
    .join(namespaces, namespaces.c.id == shares.c.group_id)
    .where(shares.c.project_id == bindparam("project"), shares.c.group_id == bindparam("group"))
)


_BY_SHARE = by_share(shares, shares.c.group_id, with_above=True).where(
    shares.c.project_id == bindparam("source"), any_of(shares.c.group_id, "seen")
)
_INVITED = union_all(select(shares.c.group_id).where(shares.c.project_id == bindparam("project")), INVITED)


@lru_cache(maxsize=2)
def _starrers(search: bool) -> ListQuery:
    matching = (
        select(
            users.c.id,
            users.c.username,
            users.c.name,
            users.c.state,
            users.c.avatar_id,
            users.c.avatar_file,
            stars.c.created_at,
        )
        .join(stars, stars.c.user_id == users.c.id)
        .where(stars.c.project_id == bindparam("project"))
    )
    if search:
        matching = matching.where(or_(contains(users.c.username_key, "pattern"), contains(users.c.name_key, "pattern")))
    return list_query(matching, users.c.id, users.c.id.asc())


@lru_cache(maxsize=2)
def _memberships(of_one_kind: bool) -> ListQuery:
    group, project = (memberships.c.source_kind == kind for kind in ("group", "project"))
    matching = (
        select(
            memberships.c.id,
            memberships.c.source_kind,
            memberships.c.source_id,
            func.coalesce(projects.c.name, namespaces.c.name, ""),
            memberships.c.access_level,
        )
        .outerjoin(namespaces, and_(group, namespaces.c.id == memberships.c.source_id))
        .outerjoin(projects, and_(project, projects.c.id == memberships.c.source_id))
        .where(memberships.c.user_id == bindparam("member"), counts_today(memberships.c.expires_at))
    )
    if of_one_kind:
        matching = matching.where(memberships.c.source_kind == bindparam("kind"))
    return list_query(matching, memberships.c.id, memberships.c.id.asc())


def list_memberships(db: Connection, user_id: int, kind: str | None, page: Page) -> Listing[NamedMembership]:
    """To which groups and projects a user belongs directly."""
    values = {"kind": kind} if kind else {}
    return fetch_page(
        db, NamedMembership, _memberships(kind is not None), page, member=user_id, today=day_of(db.now), **values
    )


def list_starrers(db: Connection, project: Project, search: str, page: Page) -> Listing[Starrer]:
    """Who starred a project."""
    values: dict[str, Any] = {"project": project.id}
    if search:
        values["pattern"] = like_pattern(search)
    return fetch_page(db, Starrer, _starrers(bool(search)), page, **values)


def list_everybody(db: Connection, actor: Actor, project: Project, wanted: ListMembers, page: Page) -> Listing[Member]:
    """Who belongs to a project: directly, by a group around it, or by one with which it or that was shared."""
    return list_members(db, source_of(project), wanted, page, _ways_into(db, actor, project))


def find_anybody(db: Connection, actor: Actor, project: Project, user_id: int) -> Member:
    """One of them."""
    return find_member(db, source_of(project), user_id, _ways_into(db, actor, project))


def _ways_into(db: Connection, actor: Actor, project: Project) -> Ways:
    invited = db.rows(_INVITED, project=project.id, namespace=project.namespace_id)
    return Ways((_BY_SHARE, BY_INVITATION), seen_of(db, actor, [group_id for (group_id,) in invited]))


def who_sees(db: Connection, project: Project, user_ids: Collection[int]) -> dict[int, Level]:
    """Which of these users can act and may see a project, each with what they hold there."""
    able = [user for user in users_by_ids(db, user_ids).values() if user.state == "active" and not user.placeholder]
    if not able or project.namespace_id is None:
        return {}
    wanted, page = ListMembers(user_ids=[user.id for user in able]), Page(size=len(able))
    found = list_members(db, source_of(project), wanted, page, _ways_into(db, Actor(admin=True), project))
    held = {member.id: Level(member.access_level) for member in found.items}
    seeing = {}
    for user in able:
        owns = user.admin or project.space_owner_id == user.id
        level = Level.OWNER if owns else held.get(user.id, Level.NONE)
        actor = Actor(user.id, user.username, user.name, admin=user.admin, external=user.external)
        if may_see_project(actor, Access(level=level), project):
            seeing[user.id] = level
    return seeing


def share_or_none(db: Connection, project: Project, group_id: int) -> Share | None:
    """The share of a project with a group, also one whose time is over."""
    return db.first(Share, _SHARE, project=project.id, group=group_id)
