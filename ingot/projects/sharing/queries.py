"""Queries of starrers, shares and memberships of a user."""

from collections.abc import Collection
from functools import lru_cache
from typing import Any

from sqlalchemy import and_, bindparam, func, or_, select, union_all

from ingot.accounts.users.queries import users_by_ids
from ingot.accounts.users.tables import users
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access, Level
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import contains, in_list, like_pattern
from ingot.core.db.paging import Listing, ListQuery, Page, fetch_page, list_query
from ingot.core.db.schema import Record
from ingot.core.db.times import Date, Timestamp
from ingot.projects.group_shares.shared_members import INVITED_GROUP_IDS, MEMBERS_BY_INVITATION, visible_group_ids
from ingot.projects.members.params import ListMembers
from ingot.projects.members.queries import InvitedMemberQueries, find_member, list_members, members_by_share
from ingot.projects.members.records import Member
from ingot.projects.namespaces.policy import is_unexpired
from ingot.projects.namespaces.tables import memberships, namespaces
from ingot.projects.projects.policy import may_see_project
from ingot.projects.projects.queries import member_source
from ingot.projects.projects.tables import Project, Share, projects, shares, stars


class Starrer(Record, frozen=True):
    """User with the time of starring."""

    id: int
    username: str
    name: str
    state: str
    avatar_id: int | None
    avatar_file: str | None
    bot: bool
    starred_since: Timestamp


class MembershipWithSource(Record, frozen=True):
    """Membership with the name of its group or project."""

    id: int
    source_kind: str
    source_id: int
    source_name: str
    access_level: int
    expires_at: Date | None
    created_at: Timestamp


_SHARE = (
    select(shares, namespaces.c.name, namespaces.c.full_path)
    .join(namespaces, namespaces.c.id == shares.c.group_id)
    .where(shares.c.project_id == bindparam("project"), shares.c.group_id == bindparam("group"))
)


_BY_SHARE = members_by_share(shares, shares.c.group_id, with_above=True).where(
    shares.c.project_id == bindparam("source"), in_list(shares.c.group_id, "seen")
)
_INVITED = union_all(select(shares.c.group_id).where(shares.c.project_id == bindparam("project")), INVITED_GROUP_IDS)


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
            users.c.bot,
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
            memberships.c.expires_at,
            memberships.c.created_at,
        )
        .outerjoin(namespaces, and_(group, namespaces.c.id == memberships.c.source_id))
        .outerjoin(projects, and_(project, projects.c.id == memberships.c.source_id))
        .where(memberships.c.user_id == bindparam("member"), is_unexpired(memberships.c.expires_at))
    )
    if of_one_kind:
        matching = matching.where(memberships.c.source_kind == bindparam("kind"))
    return list_query(matching, memberships.c.id, memberships.c.id.asc())


def list_memberships(db: Connection, user_id: int, kind: str | None, page: Page) -> Listing[MembershipWithSource]:
    """List the groups and projects in which a user has a direct membership."""
    values = {"kind": kind} if kind else {}
    return fetch_page(
        db, MembershipWithSource, _memberships(kind is not None), page, member=user_id, today=db.today, **values
    )


def list_starrers(db: Connection, project: Project, search: str, page: Page) -> Listing[Starrer]:
    """List the users who starred a project."""
    values: dict[str, Any] = {"project": project.id}
    if search:
        values["pattern"] = like_pattern(search)
    return fetch_page(db, Starrer, _starrers(bool(search)), page, **values)


def list_all_members(
    db: Connection, actor: Actor, project: Project, params: ListMembers, page: Page
) -> Listing[Member]:
    """List the members of a project: direct, inherited from its groups, and through shares with groups."""
    return list_members(db, member_source(project), params, page, _membership_sources(db, actor, project))


def find_any_member(db: Connection, actor: Actor, project: Project, user_id: int) -> Member:
    """Return a member like those of ``list_all_members``; raise NotFound if there is none."""
    return find_member(db, member_source(project), user_id, _membership_sources(db, actor, project))


def _membership_sources(db: Connection, actor: Actor, project: Project) -> InvitedMemberQueries:
    invited = db.rows(_INVITED, project=project.id, namespace=project.namespace_id)
    return InvitedMemberQueries(
        (_BY_SHARE, MEMBERS_BY_INVITATION), visible_group_ids(db, actor, [group_id for (group_id,) in invited])
    )


def users_with_access(db: Connection, project: Project, user_ids: Collection[int]) -> dict[int, Level]:
    """Return the levels of those users, by id, that are active and may see a project."""
    candidates = [
        user for user in users_by_ids(db, user_ids).values() if user.state == "active" and not user.placeholder
    ]
    if not candidates or project.namespace_id is None:
        return {}
    filters, page = ListMembers(user_ids=[user.id for user in candidates]), Page(size=len(candidates))
    listing = list_members(
        db, member_source(project), filters, page, _membership_sources(db, Actor(admin=True), project)
    )
    levels = {member.id: Level(member.access_level) for member in listing.items}
    allowed = {}
    for user in candidates:
        owns = user.admin or project.space_owner_id == user.id
        level = Level.OWNER if owns else levels.get(user.id, Level.NONE)
        actor = Actor(user.id, user.username, user.name, admin=user.admin, external=user.external)
        if may_see_project(actor, Access(level=level), project):
            allowed[user.id] = level
    return allowed


def share_or_none(db: Connection, project: Project, group_id: int) -> Share | None:
    """Return the share of a project with a group, even if it has expired."""
    return db.first(Share, _SHARE, project=project.id, group=group_id)
