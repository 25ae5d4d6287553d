"""How members are found and listed, of a group or a project alike."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    FromClause,
    Select,
    and_,
    bindparam,
    case,
    func,
    literal_column,
    or_,
    select,
    union_all,
)

from ingot.accounts.users.tables import users
from ingot.core.access.levels import Level
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import contains, in_list, like_pattern
from ingot.core.db.paging import Listing, ListQuery, Page, fetch_page, list_query
from ingot.core.db.times import day_of
from ingot.errors import NotFound
from ingot.projects.members.params import ListMembers
from ingot.projects.members.records import Member, Requester
from ingot.projects.namespaces.policy import is_unexpired, lower_level
from ingot.projects.namespaces.tables import (
    AccessRequest,
    Membership,
    SourceKind,
    access_requests,
    memberships,
    namespace_tree,
)


class MemberSource(NamedTuple):
    """The group or project that has the members, and the namespace from which it inherits more."""

    kind: SourceKind
    id: int
    namespace_id: int
    owner_id: int | None = None
    """The user in whose own namespace the project lives, if it does."""


class InvitedMemberQueries(NamedTuple):
    """How one belongs besides by a membership there or above: by groups that were invited and that the caller sees."""

    by_shares: tuple[Select[Any], ...] = ()
    """Each made once by ``members_by_share``, of the groups in ``seen``."""
    seen: Sequence[int] = ()


_BRIEF = (users.c.id, users.c.username, users.c.name, users.c.state, users.c.avatar_id, users.c.avatar_file)
_OF_SOURCE = and_(memberships.c.source_kind == bindparam("kind"), memberships.c.source_id == bindparam("source"))
_MEMBERSHIP = select(memberships).where(_OF_SOURCE, memberships.c.user_id == bindparam("member"))


def other_owner_query(group_id: ColumnElement[int]) -> Select[Any]:
    """Somebody besides ``member`` who owns a group, there or above, can act, and will still own it tomorrow."""
    held, tree, owner = memberships.alias(), namespace_tree.alias(), users.alias()
    return (
        select(held.c.id)
        .select_from(
            tree.join(held, and_(held.c.source_id == tree.c.ancestor_id, held.c.source_kind == "group")).join(
                owner, owner.c.id == held.c.user_id
            )
        )
        .where(
            tree.c.descendant_id == group_id,
            held.c.access_level == Level.OWNER,
            held.c.user_id != bindparam("member"),
            held.c.expires_at.is_(None),
            owner.c.state == "active",
        )
        .limit(literal_column("1"))
    )


_OTHER_OWNER = other_owner_query(bindparam("group"))
_REQUEST = select(access_requests).where(
    access_requests.c.source_kind == bindparam("kind"),
    access_requests.c.source_id == bindparam("source"),
    access_requests.c.user_id == bindparam("member"),
)
_ACCESS_REQUESTS = (
    select(*_BRIEF, access_requests.c.requested_at)
    .join(access_requests, access_requests.c.user_id == users.c.id)
    .where(access_requests.c.source_kind == bindparam("kind"), access_requests.c.source_id == bindparam("source"))
)
_REQUESTERS = list_query(_ACCESS_REQUESTS, users.c.id, users.c.id.asc())
_REQUESTER = _ACCESS_REQUESTS.where(users.c.id == bindparam("member"))


def _direct() -> Select[Any]:
    return (
        select(*_BRIEF, memberships.c.access_level, memberships.c.expires_at, memberships.c.created_at)
        .join(memberships, memberships.c.user_id == users.c.id)
        .where(_OF_SOURCE, is_unexpired(memberships.c.expires_at))
    )


_WRITTEN_MEMBER = (
    select(*_BRIEF, memberships.c.access_level, memberships.c.expires_at, memberships.c.created_at)
    .join(memberships, memberships.c.user_id == users.c.id)
    .where(_OF_SOURCE, users.c.id == bindparam("member"))
)


def members_by_share(share: FromClause, invited_id: ColumnElement[int], *, with_above: bool) -> Select[Any]:
    """What the members of an invited group hold by a share: never more than was given, and never for longer.

    ``with_above`` lets those of the groups above it count as well; a condition says which shares are meant.
    """
    held, tree = memberships.alias(), namespace_tree.alias()
    group_id = invited_id
    found: FromClause = share
    if with_above:
        found = found.join(tree, tree.c.descendant_id == invited_id)
        group_id = tree.c.ancestor_id
    level = lower_level(held.c.access_level, share.c.group_access)
    return (
        select(held.c.id, held.c.user_id, level.label("access_level"), _earlier_expiry(held, share), held.c.created_at)
        .select_from(found.join(held, and_(held.c.source_kind == "group", held.c.source_id == group_id)))
        .where(is_unexpired(held.c.expires_at), is_unexpired(share.c.expires_at))
    )


def _earlier_expiry(held: FromClause, share: FromClause) -> ColumnElement[str | None]:
    one, other = held.c.expires_at, share.c.expires_at
    return case((or_(other.is_(None), one < other), one), else_=other).label("expires_at")


def _with_inherited(by_shares: tuple[Select[Any], ...]) -> Select[Any]:
    """Everybody here or in a group above, and who comes by shares, each with the highest level that they hold."""
    inherited = and_(
        memberships.c.source_kind == "group",
        memberships.c.source_id.in_(
            select(namespace_tree.c.ancestor_id).where(namespace_tree.c.descendant_id == bindparam("namespace"))
        ),
    )
    here = select(
        memberships.c.id,
        memberships.c.user_id,
        memberships.c.access_level,
        memberships.c.expires_at,
        memberships.c.created_at,
    ).where(or_(_OF_SOURCE, inherited), is_unexpired(memberships.c.expires_at))
    ways = (union_all(here, *by_shares) if by_shares else here).subquery()
    place = func.row_number().over(partition_by=ways.c.user_id, order_by=(ways.c.access_level.desc(), ways.c.id))
    ranked = select(ways, place.label("place")).subquery()
    return (
        select(*_BRIEF, ranked.c.access_level, ranked.c.expires_at, ranked.c.created_at)
        .join(ranked, ranked.c.user_id == users.c.id)
        .where(ranked.c.place == 1)
    )


@lru_cache(maxsize=64)
def _list_query(by_shares: tuple[Select[Any], ...] | None, search: bool, chosen: bool) -> ListQuery:
    matching = _direct() if by_shares is None else _with_inherited(by_shares)
    if search:
        matching = matching.where(or_(contains(users.c.username_key, "pattern"), contains(users.c.name_key, "pattern")))
    if chosen:
        matching = matching.where(in_list(users.c.id, "chosen"))
    return list_query(matching, users.c.id, users.c.id.asc())


def list_members(
    db: Connection, source: MemberSource, params: ListMembers, page: Page, ways: InvitedMemberQueries | None = None
) -> Listing[Member]:
    """A page of those who belong here; with ``ways`` also of those who belong by a group above, or by these."""
    values: dict[str, Any] = {"kind": source.kind, "source": source.id, "today": day_of(db.now)}
    by_shares = None
    if ways is not None:
        values["namespace"] = source.namespace_id
        if ways.seen:
            values["seen"] = ways.seen
        by_shares = ways.by_shares if ways.seen else ()
    if params.query:
        values["pattern"] = like_pattern(params.query)
    if params.user_ids:
        values["chosen"] = params.user_ids
    query = _list_query(by_shares, bool(params.query), bool(params.user_ids))
    return fetch_page(db, Member, query, page, **values)


def find_member(db: Connection, source: MemberSource, user_id: int, ways: InvitedMemberQueries | None = None) -> Member:
    """One of them."""
    found = list_members(db, source, ListMembers(user_ids=[user_id]), Page(size=1), ways)
    if not found.items:
        raise NotFound()
    return found.items[0]


def membership_or_none(db: Connection, source: MemberSource, user_id: int) -> Membership | None:
    """The row itself, also when its time is over."""
    return db.first(Membership, _MEMBERSHIP, kind=source.kind, source=source.id, member=user_id)


def has_other_owner(db: Connection, group_id: int, user_id: int) -> bool:
    """Whether a group keeps an owner when this one goes."""
    return db.value(_OTHER_OWNER, group=group_id, member=user_id) is not None


def list_requesters(db: Connection, source: MemberSource, page: Page) -> Listing[Requester]:
    """Who would like to belong."""
    return fetch_page(db, Requester, _REQUESTERS, page, kind=source.kind, source=source.id)


def request_or_none(db: Connection, source: MemberSource, user_id: int) -> AccessRequest | None:
    """A user's request, if they made one."""
    return db.first(AccessRequest, _REQUEST, kind=source.kind, source=source.id, member=user_id)


def find_requester(db: Connection, source: MemberSource, user_id: int) -> Requester:
    """One of those who would like to belong."""
    requester = db.first(Requester, _REQUESTER, kind=source.kind, source=source.id, member=user_id)
    if requester is None:
        raise NotFound()
    return requester


def find_written_member(db: Connection, source: MemberSource, user_id: int) -> Member:
    """A member as just written, also one whose end lies in the past and who therefore does not count."""
    member = db.first(Member, _WRITTEN_MEMBER, kind=source.kind, source=source.id, member=user_id)
    if member is None:
        raise NotFound()
    return member
