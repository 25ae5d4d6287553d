"""Statements of project lists: conditions, and the query strategy for each combination of filters."""

from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, CompoundSelect, Select, bindparam, func, or_, select
from sqlalchemy.sql.selectable import ScalarSelect

from ingot.accounts.users.tables import users
from ingot.core.db.expressions import aggregated_list, contains, in_list, without_index
from ingot.core.db.paging import ListQuery, list_query, sum_counts
from ingot.core.db.search import text_scan, text_search
from ingot.projects.namespaces.policy import is_unexpired
from ingot.projects.namespaces.tables import namespace_tree, namespaces
from ingot.projects.projects import policy
from ingot.projects.projects.tables import project_topics, projects, shares, stars

# A deleted project has no namespace, so the join excludes it everywhere.
PROJECTS: Select[Any] = (
    select(
        projects,
        namespaces.c.kind,
        namespaces.c.name,
        namespaces.c.path,
        namespaces.c.full_path,
        namespaces.c.full_name,
        namespaces.c.parent_id,
        namespaces.c.owner_id,
        users.c.username,
        users.c.name,
        users.c.state,
        users.c.avatar_id,
        users.c.avatar_file,
        users.c.created_at,
    )
    .join(namespaces, namespaces.c.id == projects.c.namespace_id)
    .outerjoin(users, users.c.id == namespaces.c.owner_id)
)


def _starred_by(name: str) -> ScalarSelect[int]:
    return select(stars.c.project_id).where(stars.c.user_id == bindparam(name)).scalar_subquery()


def _shared_with(groups: ColumnElement[bool]) -> ColumnElement[bool]:
    shared = select(shares.c.project_id).where(groups, is_unexpired(shares.c.expires_at))
    return projects.c.id.in_(shared.scalar_subquery())


def _ids_as_list(ids: CompoundSelect[tuple[int]]) -> Select[Any]:
    matching = ids.subquery()
    return select(aggregated_list(matching.c[0])).select_from(matching)


_TAGGED = (
    select(project_topics.c.project_id)
    .where(in_list(project_topics.c.name_key, "wanted_topics"))
    .group_by(project_topics.c.project_id)
    .having(func.count() == bindparam("topics_count"))
)
_OWN_NAMESPACE = select(namespaces.c.id).where(namespaces.c.owner_id == bindparam("owner"))
_BELOW = select(namespace_tree.c.descendant_id).where(namespace_tree.c.ancestor_id == bindparam("group"))
_IN_GROUP = projects.c.namespace_id == bindparam("group")
_BELOW_GROUP = projects.c.namespace_id.in_(_BELOW.scalar_subquery())
_SHARED_WITH = _shared_with(shares.c.group_id == bindparam("group"))
_SEARCHED = (projects.c.name_key, projects.c.full_path_key)
_BROAD_CONDITIONS = {
    "public": projects.c.visibility == "public",
    "visible": policy.visible_projects(external=False),
    "visible_to_external": policy.visible_projects(external=True),
    "archived": projects.c.archived.is_(True),
    "unarchived": projects.c.archived.is_(False),
    "visibility": projects.c.visibility == bindparam("wanted_visibility"),
    "short_search": or_(contains(projects.c.name_key, "pattern"), contains(projects.c.full_path_key, "pattern")),
    "short_name": contains(projects.c.name_key, "name_pattern"),
    "with_issues_enabled": projects.c.issues_enabled.is_(True),
    "with_merge_requests_enabled": projects.c.merge_requests_enabled.is_(True),
    "id_after": projects.c.id > bindparam("id_after"),
    "id_before": projects.c.id < bindparam("id_before"),
    "last_activity_after": projects.c.last_activity_at >= bindparam("last_activity_after"),
    "last_activity_before": projects.c.last_activity_at <= bindparam("last_activity_before"),
}
# Conditions that usually match few projects, so that looking these up is faster than a scan.
SELECTIVE = {
    "chosen": in_list(projects.c.id, "chosen"),
    "search": text_search(projects.c.id, "needle", *_SEARCHED),
    "name": text_search(projects.c.id, "name_needle", projects.c.name_key),
    "membership": policy.belongs_to_project(),
    "owned": policy.owned_projects(),
    "at_least": policy.belongs_to_project(bindparam("least")),
    "starred": projects.c.id.in_(_starred_by("actor")),
    "starred_by": projects.c.id.in_(_starred_by("starrer")),
    "topic": projects.c.id.in_(_TAGGED.scalar_subquery()),
    "of_user": projects.c.namespace_id == _OWN_NAMESPACE.scalar_subquery(),
    "forks": projects.c.forked_from_id == bindparam("forked_from"),
    "in_group": _IN_GROUP,
    "below_group": _BELOW_GROUP,
    "shared_with": _SHARED_WITH,
    "in_group_or_shared": or_(_IN_GROUP, _SHARED_WITH),
    "below_group_or_shared": or_(_BELOW_GROUP, _shared_with(shares.c.group_id.in_(_BELOW.scalar_subquery()))),
}
_CONDITIONS = {**_BROAD_CONDITIONS, **SELECTIVE}
# Conditions for a scan of all projects in list order. Expressions disable the other indexes: the planner would use
# them for conditions that most rows meet, and then sort.
_SCAN_CONDITIONS = {
    **_CONDITIONS,
    "chosen": in_list(without_index(projects.c.id), "chosen"),
    "public": projects.c.visibility.concat("") == "public",
    "visibility": projects.c.visibility.concat("") == bindparam("wanted_visibility"),
    # The index would collect all results first, and such a list has many.
    "search": text_scan("needle", *_SEARCHED),
    "name": text_scan("name_needle", projects.c.name_key),
    "membership": policy.belongs_to_scanned_project(),
    "at_least": policy.belongs_to_scanned_project(bindparam("least")),
    "starred": without_index(projects.c.id).in_(_starred_by("actor")),
    "starred_by": without_index(projects.c.id).in_(_starred_by("starrer")),
    "topic": without_index(projects.c.id).in_(_TAGGED.scalar_subquery()),
}
# Conditions for the lookup of few projects: only the selective conditions may use an index.
_LOOKUP_CONDITIONS = {**_SCAN_CONDITIONS, **SELECTIVE}
_ALL = select(func.count()).select_from(projects).scalar_subquery()
_DELETED = select(func.count()).where(projects.c.namespace_id.is_(None)).scalar_subquery()
# These filters need no column of projects, because deleting a project deletes its memberships and shares at once.
# Collecting the ids costs no more than counting them, and the page is then selected among these ids.
ID_LIST_QUERIES: dict[frozenset[str], Select[Any]] = {
    frozenset({"membership"}): _ids_as_list(policy.projects_of_actor()),
    frozenset({"at_least"}): _ids_as_list(policy.projects_of_actor(bindparam("least"))),
}
_NOT_DELETED = without_index(projects.c.namespace_id).is_not(None)
_VISIBILITY_FILTERS = frozenset({"visible", "visible_to_external"})
# Members may see their projects, so these filters make a check of the visibility unnecessary.
MEMBERSHIP_FILTERS = frozenset({"membership", "owned", "at_least"})
NEED_ACTOR = _VISIBILITY_FILTERS | MEMBERSHIP_FILTERS | {"starred"}
NEED_TODAY = _VISIBILITY_FILTERS | MEMBERSHIP_FILTERS | {"shared_with", "in_group_or_shared", "below_group_or_shared"}
# Filters whose results depend only on columns that are versioned (see ``totals``).
VERSIONED_FILTERS = (
    _VISIBILITY_FILTERS
    | MEMBERSHIP_FILTERS
    | {
        "public",
        "visibility",
        "archived",
        "unarchived",
        "search",
        "short_search",
        "name",
        "short_name",
        "with_issues_enabled",
        "with_merge_requests_enabled",
    }
)
# Up to this number of matches, looking each one up is cheaper than a scan in list order.
MAX_LOOKUP_IDS = 250


class ProjectListQueries(NamedTuple):
    """Statements of one combination of filters and order."""

    by_lookup: ListQuery
    """Finds all matches, then sorts them."""
    by_scan: ListQuery
    """Scans in list order until a page is full."""


@lru_cache(maxsize=128)
def project_list_queries(filters: frozenset[str], order_by: str, sort: str) -> ProjectListQueries:
    """Return the statements of a list with these filters, in this order."""
    total = _count_query(filters)
    return ProjectListQueries(
        _list_query([_LOOKUP_CONDITIONS[name] for name in sorted(filters)], total, order_by, sort),
        _list_query([_SCAN_CONDITIONS[name] for name in sorted(filters)], total, order_by, sort),
    )


def _list_query(conditions: list[ColumnElement[bool]], total: Select[Any], order_by: str, sort: str) -> ListQuery:
    """Build the statements of a list: narrow indexes find the ids, and full rows are read for one page only.

    Numbered pages return ids alone; a second statement reads the rows, so that the engine does not sort full rows.
    """
    column = projects.c[f"{order_by}_key" if order_by in ("name", "path") else order_by]
    ascending = [column.asc(), projects.c.id.asc()]
    descending = [column.desc(), projects.c.id.desc()]
    order = (ascending if sort == "asc" else descending)[1 if order_by == "id" else 0 :]
    narrow = list_query(select(projects.c.id).where(_NOT_DELETED, *conditions), projects.c.id, *order)
    return ListQuery(
        narrow.by_number,
        total,
        _full_rows(narrow.by_key_up).order_by(projects.c.id.asc()),
        _full_rows(narrow.by_key_down).order_by(projects.c.id.desc()),
        narrow.by_number_back,
    )


def _full_rows(page: Select[Any]) -> Select[Any]:
    """Select the full rows of a page of ids."""
    chosen = page.subquery()
    return PROJECTS.where(projects.c.id.in_(select(chosen.c.id).scalar_subquery()))


def _count_query(filters: frozenset[str]) -> Select[Any]:
    """Build the statement that counts a list.

    Counts by an index the projects visible to all users, then the few that are visible only through a membership.
    """
    if not filters:
        return select(_ALL - _DELETED)
    if not filters.isdisjoint(SELECTIVE):
        return sum_counts([_NOT_DELETED, *(_LOOKUP_CONDITIONS[name] for name in sorted(filters))])
    visibility_filters = filters & _VISIBILITY_FILTERS
    others = [_CONDITIONS[name] for name in sorted(filters - visibility_filters)]
    if not visibility_filters:
        return sum_counts([_NOT_DELETED, *others])
    open_visibilities = ("public", "internal") if "visible" in filters else ("public",)
    closed = [projects.c.visibility != visibility for visibility in open_visibilities]
    return sum_counts(
        *(
            [projects.c.namespace_id.is_not(None), *others, projects.c.visibility == visibility]
            for visibility in open_visibilities
        ),
        [_NOT_DELETED, *others, *closed, policy.belongs_to_project()],
    )
