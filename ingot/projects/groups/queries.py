"""Queries of groups."""

from functools import lru_cache
from typing import Any

from sqlalchemy import and_, bindparam, func, or_, select

from ingot.accounts.users.tables import User
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access, Level
from ingot.core.api.params import number_or_none
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import contains, in_list, like_pattern
from ingot.core.db.paging import Listing, ListQuery, Page, fetch_page, list_query, sum_counts
from ingot.core.db.search import is_indexed, search_term, text_search
from ingot.core.errors import NotFound
from ingot.projects.groups import policy
from ingot.projects.groups.params import ListGroups
from ingot.projects.members.queries import MemberSource, other_owner_query
from ingot.projects.namespaces.boundaries import is_group_within
from ingot.projects.namespaces.custom_attributes import ids_by_custom_attributes
from ingot.projects.namespaces.ip_restrictions import is_closed
from ingot.projects.namespaces.policy import (
    groups_inviting_actor,
    groups_of_actor,
    is_unexpired,
    packed_level_by_invitation,
    packed_level_in_group,
    unpack_levels,
)
from ingot.projects.namespaces.queries import is_outsider, namespace_by_old_path
from ingot.projects.namespaces.tables import Namespace, memberships, namespace_tree, namespaces

_WITH_ACCESS = select(
    namespaces,
    packed_level_in_group(namespaces.c.id),
    packed_level_by_invitation(namespaces.c.id),
    policy.has_membership_below().label("inside"),
).where(namespaces.c.kind == "group")
_BY_ID = _WITH_ACCESS.where(namespaces.c.id == bindparam("group"))
_WITH_SOLE_OWNER = (
    select(namespaces)
    .join(memberships, and_(memberships.c.source_kind == "group", memberships.c.source_id == namespaces.c.id))
    .where(
        memberships.c.user_id == bindparam("member"),
        memberships.c.access_level == Level.OWNER,
        is_unexpired(memberships.c.expires_at),
        ~other_owner_query(namespaces.c.id).exists(),
    )
    .order_by(func.length(namespaces.c.full_path), namespaces.c.id)
)
_BY_PATH = _WITH_ACCESS.where(namespaces.c.full_path_key == bindparam("path"))


def find_group(db: Connection, actor: Actor, name: str | int) -> tuple[Access, Namespace]:
    """Return the caller's access and the group with this id or full path; raise NotFound if it is not visible.

    Also finds groups by an old path if ``db.follow_redirects`` is set.
    """
    number = number_or_none(str(name))
    values = {"actor": actor.user_id, "today": db.today}
    if number is not None:
        rows = db.rows(_BY_ID, group=number, **values)
    else:
        rows = db.rows(_BY_PATH, path=str(name).lower(), **values)
        moved = namespace_by_old_path(db, str(name)) if db.follow_redirects and not rows else None
        if moved is not None:
            rows = db.rows(_BY_ID, group=moved.id, **values)
    if not rows:
        raise NotFound("Group")
    *columns, packed, invited, inside = rows[0]
    group = Namespace(*columns)
    unpacked = unpack_levels(packed)
    access = Access(level=Level(max(unpacked[0] if unpacked else 0, invited or 0)), inside=bool(inside))
    if not policy.may_see_group(actor, access, group) or (actor.bot and is_outsider(db, access)):
        raise NotFound("Group")
    if access.level < Level.OWNER and is_closed(actor, group.full_path):
        raise NotFound("Group")
    if actor.restrictions.granular_scopes is not None and not is_group_within(db, actor, access, group.id):
        raise NotFound("Group")
    return access, group


def groups_with_sole_owner(db: Connection, user_id: int) -> list[Namespace]:
    """Return the groups of which this user is the only owner, parents before children."""
    return db.all(Namespace, _WITH_SOLE_OWNER, member=user_id, today=db.today)


def member_source(group: Namespace) -> MemberSource:
    """Return the group as a source of members."""
    return MemberSource("group", group.id, group.id)


def is_active_member(db: Connection, user: User, group: Namespace) -> bool:
    """Return whether an active user is a member of a group, also by an ancestor or an invited group."""
    actor = Actor(user_id=user.id, username=user.username, name=user.name, external=user.external)
    try:
        return user.state == "active" and find_group(db, actor, group.id)[0].level >= Level.GUEST
    except NotFound:
        return False


_DIRECT = select(memberships.c.source_id).where(
    memberships.c.user_id == bindparam("actor"),
    memberships.c.source_kind == "group",
    is_unexpired(memberships.c.expires_at),
)
_BELOW = select(namespace_tree.c.descendant_id).where(namespace_tree.c.ancestor_id == bindparam("above"))
_AT_LEAST = groups_of_actor(bindparam("least")).scalar_subquery()
_CONDITIONS = {
    "visible": policy.visible_groups(external=False),
    "visible_to_external": policy.visible_groups(external=True),
    "belongs": namespaces.c.id.in_(_DIRECT.union_all(groups_inviting_actor()).scalar_subquery()),
    "accepts_projects": policy.accepts_projects_of_actor(),
    "at_least": namespaces.c.id.in_(_AT_LEAST),
    "search": text_search(namespaces.c.id, "needle", namespaces.c.name_key, namespaces.c.full_path_key),
    "short_search": or_(contains(namespaces.c.name_key, "pattern"), contains(namespaces.c.full_path_key, "pattern")),
    "top_level_only": namespaces.c.parent_id.is_(None),
    "skip": ~in_list(namespaces.c.id, "skipped"),
    "visibility": namespaces.c.visibility == bindparam("wanted_visibility"),
    "chosen": in_list(namespaces.c.id, "chosen"),
    "custom_attributes": in_list(namespaces.c.id, "custom_attributes"),
    "children": namespaces.c.parent_id == bindparam("above"),
    "descendants": and_(namespaces.c.id != bindparam("above"), namespaces.c.id.in_(_BELOW.scalar_subquery())),
}
_ACTOR_GROUPS = frozenset({"visible", "visible_to_external", "belongs", "at_least", "accepts_projects"})
_FEW = frozenset(
    {"belongs", "at_least", "accepts_projects", "children", "descendants", "chosen", "custom_attributes", "search"}
)


@lru_cache(maxsize=128)
def _list_query(filters: frozenset[str], order_by: str, sort: str) -> ListQuery:
    groups = namespaces.c.kind == "group"
    # The expression disables the index on kind, so that the planner uses the more selective filters.
    of_these = namespaces.c.kind.concat("") == "group"
    few = bool(filters & _FEW)
    matching = select(namespaces).where(of_these if few else groups, *(_CONDITIONS[name] for name in sorted(filters)))
    names = {"name": namespaces.c.name_key, "path": namespaces.c.full_path_key, "id": namespaces.c.id}
    column = names.get(order_by, namespaces.c.name_key)
    order = (column.asc(), namespaces.c.id.asc()) if sort == "asc" else (column.desc(), namespaces.c.id.desc())
    query = list_query(matching, namespaces.c.id, *order)
    visibility_filters = filters & {"visible", "visible_to_external"}
    if not visibility_filters or few:
        return query
    # Count by an index: the groups visible to all users, plus the few that are visible only through a membership.
    others = [_CONDITIONS[name] for name in sorted(filters - visibility_filters)]
    open_visibilities = ("public", "internal") if "visible" in visibility_filters else ("public",)
    closed = [namespaces.c.visibility != visibility for visibility in open_visibilities]
    parts = [
        *([groups, *others, namespaces.c.visibility == visibility] for visibility in open_visibilities),
        [of_these, *others, *closed, policy.groups_visible_by_membership()],
    ]
    return query._replace(total=sum_counts(*parts))


def list_groups(
    db: Connection,
    actor: Actor,
    params: ListGroups,
    page: Page,
    below: Namespace | None = None,
    *,
    deep: bool = False,
    among: list[int] | None = None,
    for_new_projects: bool = False,
) -> Listing[Namespace]:
    """List the groups below a group, among given ids, or by default those of the caller.

    ``params.all_available`` lists all groups that the caller may see, ``for_new_projects`` those in which the caller
    may create projects.
    """
    # The filters of the statement, with the bind parameters of each.
    filters: dict[str, dict[str, Any]] = {}
    if below is not None:
        filters["descendants" if deep else "children"] = {"above": below.id}
    if among is not None:
        filters["chosen"] = {"chosen": among}
    least = Level.OWNER if params.owned else params.min_access_level
    if least is not None:
        filters["at_least"] = {"least": least}
    elif for_new_projects and not actor.admin:
        filters["accepts_projects"] = {}
    elif below is None and among is None and not params.all_available and not actor.admin:
        filters["belongs"] = {}
    if not actor.admin and not filters.keys() & {"accepts_projects", "at_least", "belongs"}:
        filters["visible_to_external" if actor.external else "visible"] = {}
    filters |= _filters_for(params)
    attribute_matches = ids_by_custom_attributes(db, actor, "group", params.custom_attributes)
    if attribute_matches is not None:
        filters["custom_attributes"] = {"custom_attributes": attribute_matches}
    values = {name: value for each in filters.values() for name, value in each.items()}
    if filters.keys() & _ACTOR_GROUPS:
        values |= {"actor": actor.user_id, "today": db.today}
    return fetch_page(db, Namespace, _list_query(frozenset(filters), params.order_by, params.sort), page, **values)


def list_transfer_locations(
    db: Connection, actor: Actor, group: Namespace, search: str, page: Page
) -> Listing[Namespace]:
    """List the groups of the caller into which a group can be moved: neither its parent nor those inside it."""
    inside = [group_id for (group_id,) in db.rows(_BELOW, above=group.id)]
    params = ListGroups(search=search, skip_groups=[*inside, group.parent_id or 0], owned=not actor.admin)
    return list_groups(db, actor, params, page)


def _filters_for(params: ListGroups) -> dict[str, dict[str, Any]]:
    filters: dict[str, dict[str, Any]] = {}
    if params.search and is_indexed(params.search):
        filters["search"] = {"needle": search_term(params.search)}
    elif params.search:
        filters["short_search"] = {"pattern": like_pattern(params.search)}
    if params.top_level_only:
        filters["top_level_only"] = {}
    if params.skip_groups:
        filters["skip"] = {"skipped": params.skip_groups}
    if params.visibility:
        filters["visibility"] = {"wanted_visibility": params.visibility}
    return filters
