"""How groups are found and listed."""

from functools import lru_cache
from typing import Any

from sqlalchemy import and_, bindparam, func, or_, select

from ingot.access.actor import Actor
from ingot.access.levels import Access, Level
from ingot.api.params import number_or_none
from ingot.db.connection import Connection
from ingot.db.expressions import any_of, contains, like_pattern
from ingot.db.paging import Listing, ListQuery, Page, fetch_page, list_query, sum_of_counts
from ingot.db.search import holding, is_indexed, needle
from ingot.db.times import day_of
from ingot.errors import NotFound
from ingot.groups import policy
from ingot.groups.members.queries import Source, other_owner
from ingot.groups.namespaces.attributes import chosen_by_attributes
from ingot.groups.namespaces.policy import (
    counts_today,
    groups_inviting_actor,
    groups_of_actor,
    held_by_invitation,
    held_in_group,
    unpacked,
)
from ingot.groups.namespaces.queries import moved_namespace
from ingot.groups.namespaces.tables import Namespace, memberships, namespace_tree, namespaces
from ingot.groups.params import ListGroups

_WITH_ACCESS = select(
    namespaces,
    held_in_group(namespaces.c.id),
    held_by_invitation(namespaces.c.id),
    policy.belongs_inside().label("inside"),
).where(namespaces.c.kind == "group")
_BY_ID = _WITH_ACCESS.where(namespaces.c.id == bindparam("group"))
_OWNED_ALONE = (
    select(namespaces)
    .join(memberships, and_(memberships.c.source_kind == "group", memberships.c.source_id == namespaces.c.id))
    .where(
        memberships.c.user_id == bindparam("member"),
        memberships.c.access_level == Level.OWNER,
        counts_today(memberships.c.expires_at),
        ~other_owner(namespaces.c.id).exists(),
    )
    .order_by(func.length(namespaces.c.full_path), namespaces.c.id)
)
_BY_PATH = _WITH_ACCESS.where(namespaces.c.full_path_key == bindparam("path"))


def find_group(db: Connection, actor: Actor, name: str | int) -> tuple[Access, Namespace]:
    """The group with this number or full path, for who looks also an old one, and what the caller holds in it."""
    number = number_or_none(str(name))
    values = {"actor": actor.user_id, "today": day_of(db.now)}
    if number is not None:
        rows = db.rows(_BY_ID, group=number, **values)
    else:
        rows = db.rows(_BY_PATH, path=str(name).lower(), **values)
        moved = moved_namespace(db, str(name)) if db.leads_on and not rows else None
        if moved is not None:
            rows = db.rows(_BY_ID, group=moved.id, **values)
    if not rows:
        raise NotFound("Group")
    *columns, packed, invited, inside = rows[0]
    group = Namespace(*columns)
    held = unpacked(packed)
    here = Access(level=Level(max(held[0] if held else 0, invited or 0)), inside=bool(inside))
    if not policy.may_see_group(actor, here, group):
        raise NotFound("Group")
    return here, group


def groups_owned_alone(db: Connection, user_id: int) -> list[Namespace]:
    """The groups that nobody would own if this user went, parents before children."""
    return db.all(Namespace, _OWNED_ALONE, member=user_id, today=day_of(db.now))


def source_of(group: Namespace) -> Source:
    """The group as the one that has members."""
    return Source("group", group.id, group.id)


_DIRECT = select(memberships.c.source_id).where(
    memberships.c.user_id == bindparam("actor"),
    memberships.c.source_kind == "group",
    counts_today(memberships.c.expires_at),
)
_BELOW = select(namespace_tree.c.descendant_id).where(namespace_tree.c.ancestor_id == bindparam("above"))
_AT_LEAST = groups_of_actor(bindparam("least")).scalar_subquery()
_CONDITIONS = {
    "visible": policy.visible_groups(external=False),
    "visible_to_external": policy.visible_groups(external=True),
    "belongs": namespaces.c.id.in_(_DIRECT.union_all(groups_inviting_actor()).scalar_subquery()),
    "at_least": namespaces.c.id.in_(_AT_LEAST),
    "search": holding(namespaces.c.id, "needle", namespaces.c.name_key, namespaces.c.full_path_key),
    "short_search": or_(contains(namespaces.c.name_key, "pattern"), contains(namespaces.c.full_path_key, "pattern")),
    "top_level_only": namespaces.c.parent_id.is_(None),
    "skip": ~any_of(namespaces.c.id, "skipped"),
    "visibility": namespaces.c.visibility == bindparam("wanted_visibility"),
    "chosen": any_of(namespaces.c.id, "chosen"),
    "noted": any_of(namespaces.c.id, "noted"),
    "children": namespaces.c.parent_id == bindparam("above"),
    "descendants": and_(namespaces.c.id != bindparam("above"), namespaces.c.id.in_(_BELOW.scalar_subquery())),
}
_OF_THE_ACTOR = frozenset({"visible", "visible_to_external", "belongs", "at_least"})
_FEW = frozenset({"belongs", "at_least", "children", "descendants", "chosen", "noted", "search"})


@lru_cache(maxsize=512)
def _list_query(filters: frozenset[str], order_by: str, sort: str) -> ListQuery:
    groups = namespaces.c.kind == "group"
    # As an expression it serves no index: what says which groups are meant leads to them sooner.
    of_these = namespaces.c.kind.concat("") == "group"
    few = bool(filters & _FEW)
    matching = select(namespaces).where(of_these if few else groups, *(_CONDITIONS[name] for name in sorted(filters)))
    names = {"name": namespaces.c.name_key, "path": namespaces.c.full_path_key, "id": namespaces.c.id}
    column = names.get(order_by, namespaces.c.name_key)
    order = (column.asc(), namespaces.c.id.asc()) if sort == "asc" else (column.desc(), namespaces.c.id.desc())
    query = list_query(matching, namespaces.c.id, *order)
    seen = filters & {"visible", "visible_to_external"}
    if not seen or few:
        return query
    # Most groups are seen because they are open: counting these by an index, and then the few others, is cheap.
    others = [_CONDITIONS[name] for name in sorted(filters - seen)]
    opened = ("public", "internal") if "visible" in seen else ("public",)
    closed = [namespaces.c.visibility != word for word in opened]
    parts = [
        *([groups, *others, namespaces.c.visibility == word] for word in opened),
        [of_these, *others, *closed, policy.groups_around_actor()],
    ]
    return query._replace(total=sum_of_counts(*parts))


def list_groups(
    db: Connection,
    actor: Actor,
    wanted: ListGroups,
    page: Page,
    below: Namespace | None = None,
    *,
    deep: bool = False,
    among: list[int] | None = None,
) -> Listing[Namespace]:
    """A page of groups: below one, among some, or else those to which the caller belongs, unless they ask for more."""
    # The filters of the statement, and what each of them is asked for.
    asked: dict[str, dict[str, Any]] = {}
    if below is not None:
        asked["descendants" if deep else "children"] = {"above": below.id}
    if among is not None:
        asked["chosen"] = {"chosen": among}
    least = Level.OWNER if wanted.owned else wanted.min_access_level
    if least is not None:
        asked["at_least"] = {"least": least}
    elif below is None and among is None and not wanted.all_available and not actor.admin:
        asked["belongs"] = {}
    if not actor.admin and not asked.keys() & {"at_least", "belongs"}:
        asked["visible_to_external" if actor.external else "visible"] = {}
    asked |= _narrowing(wanted)
    noted = chosen_by_attributes(db, actor, "group", wanted.custom_attributes)
    if noted is not None:
        asked["noted"] = {"noted": noted}
    values = {name: value for each in asked.values() for name, value in each.items()}
    if asked.keys() & _OF_THE_ACTOR:
        values |= {"actor": actor.user_id, "today": day_of(db.now)}
    return fetch_page(db, Namespace, _list_query(frozenset(asked), wanted.order_by, wanted.sort), page, **values)


def _narrowing(wanted: ListGroups) -> dict[str, dict[str, Any]]:
    asked: dict[str, dict[str, Any]] = {}
    if wanted.search and is_indexed(wanted.search):
        asked["search"] = {"needle": needle(wanted.search)}
    elif wanted.search:
        asked["short_search"] = {"pattern": like_pattern(wanted.search)}
    if wanted.top_level_only:
        asked["top_level_only"] = {}
    if wanted.skip_groups:
        asked["skip"] = {"skipped": wanted.skip_groups}
    if wanted.visibility:
        asked["visibility"] = {"wanted_visibility": wanted.visibility}
    return asked
