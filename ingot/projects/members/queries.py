"""Queries of members of groups and projects."""

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
from ingot.core.db.expressions import in_list, like_pattern, without_index
from ingot.core.db.paging import Listing, ListQuery, Page, fetch_page, list_query
from ingot.core.db.times import Date
from ingot.core.db.totals import MEMBERS, USERS
from ingot.core.errors import NotFound
from ingot.projects.members.member_ids import list_member_ids, names_match
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
    namespaces,
)


class MemberSource(NamedTuple):
    """Group or project that has members, with the namespace from which it inherits more."""

    kind: SourceKind
    id: int
    namespace_id: int
    owner_id: int | None = None
    """Owner of the personal namespace that contains the project, if it is in one."""


class InvitedMemberQueries(NamedTuple):
    """Queries of members through invited groups that the caller may see."""

    by_shares: tuple[Select[Any], ...] = ()
    """Statements built by ``members_by_share``; each is limited to the groups in ``seen``."""
    seen: Sequence[int] = ()


_BRIEF = (
    users.c.id,
    users.c.username,
    users.c.name,
    users.c.state,
    users.c.avatar_id,
    users.c.avatar_file,
    users.c.bot,
)
_OF_SOURCE = and_(memberships.c.source_kind == bindparam("kind"), memberships.c.source_id == bindparam("source"))
_HIGHEST = select(func.max(memberships.c.access_level)).where(
    memberships.c.user_id == bindparam("member"), is_unexpired(memberships.c.expires_at)
)
_MEMBERSHIP = select(memberships).where(_OF_SOURCE, memberships.c.user_id == bindparam("member"))


def other_owner_query(group_id: ColumnElement[int]) -> Select[Any]:
    """Select an owner of a group other than ``member``, including inherited owners.

    Only active users whose membership has no expiry date count, because the group must still have an owner later.
    """
    membership, tree, owner = memberships.alias(), namespace_tree.alias(), users.alias()
    return (
        select(membership.c.id)
        .select_from(
            tree.join(
                membership, and_(membership.c.source_id == tree.c.ancestor_id, membership.c.source_kind == "group")
            ).join(owner, owner.c.id == membership.c.user_id)
        )
        .where(
            tree.c.descendant_id == group_id,
            membership.c.access_level == Level.OWNER,
            membership.c.user_id != bindparam("member"),
            membership.c.expires_at.is_(None),
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


_SOURCES = (
    select(
        memberships.c.user_id,
        and_(memberships.c.source_kind == bindparam("kind"), memberships.c.source_id == bindparam("source")).label(
            "direct"
        ),
        memberships.c.access_level,
        memberships.c.expires_at,
        namespaces.c.full_path,
    )
    .outerjoin(namespaces, and_(memberships.c.source_kind == "group", namespaces.c.id == memberships.c.source_id))
    .where(
        in_list(memberships.c.user_id, "members"),
        is_unexpired(memberships.c.expires_at),
        or_(
            _OF_SOURCE,
            and_(
                memberships.c.source_kind == "group",
                memberships.c.source_id.in_(
                    select(namespace_tree.c.ancestor_id).where(namespace_tree.c.descendant_id == bindparam("namespace"))
                ),
            ),
        ),
    )
    .order_by(memberships.c.access_level)
)


def members_by_share(share: FromClause, invited_id: ColumnElement[int], *, with_above: bool) -> Select[Any]:
    """Select the members of an invited group with the lower level and the earlier expiry of membership and share.

    ``with_above`` includes the members of the invited group's ancestors. Callers add the condition that selects the
    shares.
    """
    membership, tree = memberships.alias(), namespace_tree.alias()
    group_id = invited_id
    source: FromClause = share
    if with_above:
        source = source.join(tree, tree.c.descendant_id == invited_id)
        group_id = tree.c.ancestor_id
    level = lower_level(membership.c.access_level, share.c.group_access)
    return (
        select(
            membership.c.id,
            membership.c.user_id,
            level.label("access_level"),
            _earlier_expiry(membership, share),
            membership.c.created_at,
        )
        .select_from(
            source.join(membership, and_(membership.c.source_kind == "group", membership.c.source_id == group_id))
        )
        .where(is_unexpired(membership.c.expires_at), is_unexpired(share.c.expires_at))
    )


def _earlier_expiry(membership: FromClause, share: FromClause) -> ColumnElement[str | None]:
    member_expiry, share_expiry = membership.c.expires_at, share.c.expires_at
    return case((or_(share_expiry.is_(None), member_expiry < share_expiry), member_expiry), else_=share_expiry).label(
        "expires_at"
    )


def _with_inherited(by_shares: tuple[Select[Any], ...]) -> Select[Any]:
    """Select the ``chosen`` among the direct, inherited and invited members, each once with the highest level."""
    # The memberships are found by their users; a source may have thousands.
    source_kind, source_id = memberships.c.source_kind.concat(""), without_index(memberships.c.source_id)
    direct = and_(source_kind == bindparam("kind"), source_id == bindparam("source"))
    inherited = and_(
        source_kind == "group",
        source_id.in_(
            select(namespace_tree.c.ancestor_id).where(namespace_tree.c.descendant_id == bindparam("namespace"))
        ),
    )
    direct_or_inherited = select(
        memberships.c.id,
        memberships.c.user_id,
        memberships.c.access_level,
        memberships.c.expires_at,
        memberships.c.created_at,
    ).where(in_list(memberships.c.user_id, "chosen"), or_(direct, inherited), is_unexpired(memberships.c.expires_at))
    invited = (select(share.subquery()) for share in by_shares)
    parts = [direct_or_inherited, *(each.where(in_list(each.selected_columns.user_id, "chosen")) for each in invited)]
    candidates = union_all(*parts).subquery()
    rank = func.row_number().over(
        partition_by=candidates.c.user_id, order_by=(candidates.c.access_level.desc(), candidates.c.id)
    )
    ranked = select(candidates, rank.label("rank")).subquery()
    return (
        select(*_BRIEF, ranked.c.access_level, ranked.c.expires_at, ranked.c.created_at)
        .join(ranked, ranked.c.user_id == users.c.id)
        .where(ranked.c.rank == 1)
    )


@lru_cache(maxsize=4)
def _direct_query(search: bool, chosen: bool) -> ListQuery:
    matching = _direct()
    if search:
        matching = matching.where(names_match())
    if chosen:
        matching = matching.where(in_list(users.c.id, "chosen"))
    query = list_query(matching, users.c.id, memberships.c.user_id.asc())
    if search or chosen:
        return query
    total = select(func.count()).where(_OF_SOURCE, is_unexpired(memberships.c.expires_at))
    return query._replace(total=total)


@lru_cache(maxsize=64)
def _chosen_query(by_shares: tuple[Select[Any], ...], search: bool) -> ListQuery:
    matching = _with_inherited(by_shares)
    if search:
        matching = matching.where(names_match())
    return list_query(matching, users.c.id, users.c.id.asc())


def list_members(
    db: Connection, source: MemberSource, params: ListMembers, page: Page, invited: InvitedMemberQueries | None = None
) -> Listing[Member]:
    """List the direct members; with ``invited`` also the inherited members and those of invited groups."""
    values: dict[str, Any] = {"kind": source.kind, "source": source.id, "today": db.today}
    if params.query:
        values["pattern"] = like_pattern(params.query)
    if params.user_ids:
        values["chosen"] = params.user_ids
    if invited is None:
        query = _direct_query(bool(params.query), bool(params.user_ids))
        return fetch_page(db, Member, query, page, (MEMBERS, USERS), **values)
    by_shares = invited.by_shares if invited.seen else ()
    values["namespace"] = source.namespace_id
    if invited.seen:
        values["seen"] = invited.seen
    if params.user_ids:
        return fetch_page(db, Member, _chosen_query(by_shares, bool(params.query)), page, **values)
    ids = list_member_ids(db, (source.kind, source.id), by_shares, page, values)
    if not ids.items:
        return ids.of([])
    statement = _chosen_query(by_shares, False).by_number
    chosen = db.all(Member, statement, page_size=page.size, page_offset=0, **values, chosen=ids.items)
    by_id = {member.id: member for member in chosen}
    # On PostgreSQL, a membership may have ended since the statement that found its user.
    return ids.of([by_id[user_id] for user_id in ids.items if user_id in by_id])


def find_member(
    db: Connection, source: MemberSource, user_id: int, invited: InvitedMemberQueries | None = None
) -> Member:
    """Return a member like those of ``list_members`` by user id; raise NotFound if there is none."""
    listing = list_members(db, source, ListMembers(user_ids=[user_id]), Page(size=1), invited)
    if not listing.items:
        raise NotFound()
    return listing.items[0]


def membership_or_none(db: Connection, source: MemberSource, user_id: int) -> Membership | None:
    """Return the direct membership of a user, even if it has expired."""
    return db.first(Membership, _MEMBERSHIP, kind=source.kind, source=source.id, member=user_id)


def has_other_owner(db: Connection, group_id: int, user_id: int) -> bool:
    """Check whether a group still has an owner without this user."""
    return db.value(_OTHER_OWNER, group=group_id, member=user_id) is not None


def list_requesters(db: Connection, source: MemberSource, page: Page) -> Listing[Requester]:
    """List the users who requested access."""
    return fetch_page(db, Requester, _REQUESTERS, page, kind=source.kind, source=source.id)


def request_or_none(db: Connection, source: MemberSource, user_id: int) -> AccessRequest | None:
    """Return a user's access request."""
    return db.first(AccessRequest, _REQUEST, kind=source.kind, source=source.id, member=user_id)


def find_requester(db: Connection, source: MemberSource, user_id: int) -> Requester:
    """Return a user who requested access; raise NotFound if there is no request."""
    requester = db.first(Requester, _REQUESTER, kind=source.kind, source=source.id, member=user_id)
    if requester is None:
        raise NotFound()
    return requester


def find_written_member(db: Connection, source: MemberSource, user_id: int) -> Member:
    """Return a member just written, even if the expiry date is in the past."""
    member = db.first(Member, _WRITTEN_MEMBER, kind=source.kind, source=source.id, member=user_id)
    if member is None:
        raise NotFound()
    return member


def list_membership_sources(
    db: Connection, source: MemberSource, user_ids: Sequence[int]
) -> list[tuple[int, bool, int, Date | None, str | None]]:
    """Return the memberships of these users in the source and in the groups above it, the highest level last.

    Each is a user, whether it is direct, the level, the expiration date and the path of the group.
    """
    if not user_ids:
        return []
    values = {"kind": source.kind, "source": source.id, "namespace": source.namespace_id, "today": db.today}
    return list(db.rows(_SOURCES, members=list(user_ids), **values))


def highest_level(db: Connection, user_id: int) -> int:
    """Return the highest level that a user has in any group or project; 0 without memberships."""
    level: int | None = db.value(_HIGHEST, member=user_id, today=db.today)
    return level or 0
