"""Queries of projects."""

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

from msgspec.structs import replace
from sqlalchemy import bindparam, exists, func, select

from ingot.accounts.users.tables import User
from ingot.core.access.actor import ANONYMOUS, Actor, JobIdentity
from ingot.core.access.levels import Access, Level
from ingot.core.api.params import number_or_none
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list, like_pattern, parse_aggregated
from ingot.core.db.paging import Listing, ListQuery, Page, fetch_page
from ingot.core.db.search import is_indexed, search_term
from ingot.core.db.times import Date
from ingot.core.db.totals import VISIBILITY, cached_total
from ingot.core.errors import NotFound
from ingot.projects.members.queries import MemberSource
from ingot.projects.namespaces.boundaries import is_project_within
from ingot.projects.namespaces.custom_attributes import ids_by_custom_attributes
from ingot.projects.namespaces.ip_restrictions import is_closed
from ingot.projects.namespaces.policy import (
    packed_level_by_invitation,
    packed_level_in_group,
    packed_level_in_source,
    unpack_levels,
)
from ingot.projects.namespaces.queries import is_outsider, namespace_by_old_path, namespace_by_path
from ingot.projects.namespaces.tables import Namespace, namespace_tree
from ingot.projects.projects import policy
from ingot.projects.projects.filters import (
    ID_LIST_QUERIES,
    MAX_LOOKUP_IDS,
    MEMBERSHIP_FILTERS,
    NEED_ACTOR,
    NEED_TODAY,
    PROJECTS,
    SELECTIVE,
    VERSIONED_FILTERS,
    project_list_queries,
)
from ingot.projects.projects.params import ListProjects
from ingot.projects.projects.ports import JobTokenScopes
from ingot.projects.projects.tables import Project, project_redirects, project_topics, projects, shares, stars

_BY_NUMBER = PROJECTS.where(projects.c.id == bindparam("project"))
_BY_NUMBERS = PROJECTS.where(in_list(projects.c.id, "projects"))
_WITH_ACCESS = PROJECTS.add_columns(
    packed_level_in_source("project", projects.c.id),
    packed_level_in_group(projects.c.namespace_id),
    policy.shared_level(),
    packed_level_by_invitation(projects.c.namespace_id),
    exists().where(shares.c.project_id == projects.c.id).label("shared"),
    exists().where(project_topics.c.project_id == projects.c.id).label("tagged"),
)
_BY_ID = _WITH_ACCESS.where(projects.c.id == bindparam("project"))
_BY_PATH = _WITH_ACCESS.where(projects.c.full_path_key == bindparam("path"))
_BY_PATHS = _WITH_ACCESS.where(in_list(projects.c.full_path_key, "paths"))
_REDIRECT = select(project_redirects.c.project_id).where(
    project_redirects.c.namespace_id == bindparam("namespace"), project_redirects.c.path_key == bindparam("path")
)
_PATHS = select(projects.c.id, projects.c.full_path).where(in_list(projects.c.id, "projects"))
_ID_BY_PATH = select(projects.c.id).where(projects.c.full_path_key == bindparam("path"))
_IN_NAMESPACE = PROJECTS.where(projects.c.namespace_id == bindparam("namespace")).order_by(projects.c.id)
_COUNT_IN = select(func.count()).where(projects.c.namespace_id == bindparam("namespace"))
_BY_NAME = select(projects.c.id).where(
    projects.c.namespace_id == bindparam("namespace"), projects.c.name == bindparam("name")
)
_MORE_OPEN_FORKS = select(projects.c.id).where(
    projects.c.forked_from_id == bindparam("project"), in_list(projects.c.visibility, "visibilities")
)
_MORE_OPEN_BELOW = (
    select(projects.c.id)
    .join(namespace_tree, namespace_tree.c.descendant_id == projects.c.namespace_id)
    .where(namespace_tree.c.ancestor_id == bindparam("namespace"), in_list(projects.c.visibility, "visibilities"))
)
_FORK_ANCESTRY_STEP = (
    select(projects.c.id, projects.c.forked_from_id).where(projects.c.id == bindparam("project")).cte(recursive=True)
)
# UNION instead of UNION ALL: the recursion also ends if fork relations form a cycle.
_FORK_ANCESTRY = select(
    _FORK_ANCESTRY_STEP.union(
        select(projects.c.id, projects.c.forked_from_id).join(
            _FORK_ANCESTRY_STEP, projects.c.id == _FORK_ANCESTRY_STEP.c.forked_from_id
        )
    ).c.id
)
_STARRED = select(stars.c.id).where(stars.c.user_id == bindparam("user"), stars.c.project_id == bindparam("project"))


def find_project(db: Connection, actor: Actor, name: str | int) -> tuple[Access, Project]:
    """Return the caller's access and the project with this id or full path; raise NotFound if it is not visible.

    Also finds projects by an old path if ``db.follow_redirects`` is set.
    """
    lookup = find_project_lookup(db, actor, name)
    return lookup.access, lookup.project


def find_project_lookup(db: Connection, actor: Actor, name: str | int) -> policy.ProjectLookup:
    """Find a project by id or full path, with the caller's access to it; nearly all requests do, so it is cached."""
    if actor.job is not None:
        return _find_project_of_job(db, actor, actor.job, name)
    found = _cached_lookup(db, actor.user_id, name)
    if found is None or not policy.may_see_project(actor, found.access, found.project):
        raise NotFound("Project")
    if is_closed(actor, found.project.full_path):
        raise NotFound("Project")
    if actor.bot and is_outsider(db, found.access):
        raise NotFound("Project")
    if actor.restrictions.granular_scopes is not None:
        project = found.project
        if not is_project_within(db, actor, found.access, project.id, project.namespace_id, project.full_path):
            raise NotFound("Project")
    return found


def _find_project_of_job(db: Connection, actor: Actor, job: JobIdentity, name: str | int) -> policy.ProjectLookup:
    """Find a project that the token of a job gives access to; other projects only if they are public."""
    found = _cached_lookup(db, actor.user_id, name)
    if found is None:
        raise NotFound("Project")
    project_id = found.project.id
    if project_id != job.project_id and not db.ports[JobTokenScopes].allows(db, job.project_id, project_id):
        return find_project_lookup(db, replace(ANONYMOUS, closed_groups=actor.closed_groups), project_id)
    access = Access(level=Level.OWNER) if job.admin else found.access
    if not policy.may_see_project(actor, access, found.project) or is_closed(actor, found.project.full_path):
        raise NotFound("Project")
    return found._replace(access=access)


def _cached_lookup(db: Connection, user_id: int, name: str | int) -> policy.ProjectLookup | None:
    today = db.today

    def key(name: object) -> tuple[Hashable, ...]:
        return "project", str(name), user_id, today, db.follow_redirects

    def read() -> policy.ProjectLookup | None:
        found = _project_lookup_or_none(db, user_id, today, str(name))
        if found is not None and str(found.project.id) != str(name):
            db.cached(key(found.project.id), lambda: found, _lookup_size, rows)  # Pages go on with the id.
        return found

    def rows(found: policy.ProjectLookup) -> dict[str, int | None]:
        project = found.project
        # Another project may take the place of one that was found by an old path.
        is_current = str(name).lower() in (str(project.id), project.full_path.lower())
        own = {"project_shares": project.id, "project_topics": project.id, "memberships": user_id}
        return {**own, "projects": project.id if is_current else None}

    return db.cached(key(name), read, _lookup_size, rows)


def _project_lookup_or_none(db: Connection, user_id: int, today: Date, id_or_path: str) -> policy.ProjectLookup | None:
    """Return a project with a user's access, without a check of visibility."""
    number = number_or_none(id_or_path)
    values = {"actor": user_id, "today": today}
    if number is not None:
        rows = db.rows(_BY_ID, project=number, **values)
    else:
        rows = db.rows(_BY_PATH, path=id_or_path.lower(), **values)
        if not rows and db.follow_redirects:
            moved = _redirect_target(db, id_or_path.lower())
            rows = db.rows(_BY_ID, project=moved, **values) if moved is not None else []
    return _lookup_from_row(user_id, rows[0]) if rows else None


def _lookup_from_row(user_id: int, row: tuple[Any, ...]) -> policy.ProjectLookup:
    *columns, own, group, by_share, by_invitation, shared, tagged = row
    project = Project(*columns)
    access = _access(user_id, project, unpack_levels(own), unpack_levels(group), max(by_share or 0, by_invitation or 0))
    return policy.ProjectLookup(access, project, bool(shared), bool(tagged))


def visible_projects_by_path(db: Connection, actor: Actor, paths: Iterable[str]) -> dict[str, policy.ProjectLookup]:
    """Return the projects at these full paths that the caller may see, by lowercase path, in one statement."""
    values = {"actor": actor.user_id, "today": db.today}
    rows = db.rows(_BY_PATHS, paths=sorted({path.lower() for path in paths}), **values)
    lookups = (_lookup_from_row(actor.user_id, row) for row in rows)
    return {
        lookup.project.full_path.lower(): lookup
        for lookup in lookups
        if policy.may_see_project(actor, lookup.access, lookup.project)
    }


def _lookup_size(lookup: policy.ProjectLookup) -> int:
    return 6_000 + 4 * len(lookup.project.description or "")


def _access(
    user_id: int, project: Project, own: tuple[int, int] | None, group: tuple[int, int] | None, shared: int
) -> Access:
    owner = Level.OWNER if user_id and project.space_owner_id == user_id else Level.NONE
    own_level, own_notifications = own or (None, None)
    group_level, group_notifications = group or (None, None)
    return Access(
        level=Level(max(own_level or 0, group_level or 0, shared, owner)),
        own=own_level,
        group=group_level,
        own_notifications=own_notifications,
        group_notifications=group_notifications,
    )


def _redirect_target(db: Connection, path: str) -> int | None:
    """Return the id of the project that had this path before it, or a namespace that contains it, was moved."""
    parent_path, _, name = path.rpartition("/")
    if not parent_path:
        return None
    namespace = namespace_by_path(db, parent_path) or namespace_by_old_path(db, parent_path)
    if namespace is None:
        return None
    project_id: int | None = db.value(_ID_BY_PATH, path=f"{namespace.full_path_key}/{name}")
    return project_id if project_id is not None else db.value(_REDIRECT, namespace=namespace.id, path=name)


def user_access_or_none(db: Connection, user: User, project: Project) -> Access | None:
    """Return a user's access to a project, or None if they may not see it."""
    actor = Actor(user_id=user.id, username=user.username, name=user.name, admin=user.admin, external=user.external)
    try:
        return find_project(db, actor, project.id)[0]
    except NotFound:
        return None


def paths_of_projects(db: Connection, project_ids: Sequence[int]) -> dict[int, str]:
    """Return the full paths of projects by id, without a permission check, in one statement."""
    return dict(db.rows(_PATHS, projects=list(project_ids)))


def projects_by_ids(db: Connection, project_ids: Sequence[int]) -> dict[int, Project]:
    """Return projects by id, without a permission check, in one statement."""
    return {project.id: project for project in db.all(Project, _BY_NUMBERS, projects=list(project_ids))}


def project_or_none(db: Connection, project_id: int) -> Project | None:
    """Return the project with this id, without a permission check."""
    return db.first(Project, _BY_NUMBER, project=project_id)


def existing_project(db: Connection, project_id: int) -> Project:
    """Return the project with this id, without a permission check; raise NotFound if there is none."""
    project = project_or_none(db, project_id)
    if project is None:
        raise NotFound("Project")
    return project


def project_id_by_path_or_none(db: Connection, full_path: str) -> int | None:
    """Return the id of the project with this full path; redirects are not followed."""
    project_id: int | None = db.value(_ID_BY_PATH, path=full_path.lower())
    return project_id


def projects_in_namespace(db: Connection, namespace_id: int) -> list[Project]:
    """Return all projects directly in a namespace."""
    return db.all(Project, _IN_NAMESPACE, namespace=namespace_id)


def count_personal_projects(db: Connection, namespace_id: int) -> int:
    """Return the number of projects that count against the limit of a namespace's user."""
    count: int = db.value(_COUNT_IN, namespace=namespace_id)
    return count


def project_id_by_name_or_none(db: Connection, namespace_id: int, name: str) -> int | None:
    """Return the id of the project with exactly this name in a namespace."""
    project_id: int | None = db.value(_BY_NAME, namespace=namespace_id, name=name)
    return project_id


def more_open_forks(db: Connection, project_id: int, visibilities: list[str]) -> list[int]:
    """Return the ids of a project's forks that have one of these visibilities."""
    return [row[0] for row in db.rows(_MORE_OPEN_FORKS, project=project_id, visibilities=visibilities)]


def fork_ancestry(db: Connection, project_id: int) -> list[int]:
    """Return the ids of a project and of all its fork sources."""
    return [row[0] for row in db.rows(_FORK_ANCESTRY, project=project_id)]


def more_visible_projects(db: Connection, namespace_id: int, visibilities: list[str]) -> list[int]:
    """Return the ids of projects in a group and its descendants that have one of these visibilities."""
    return [row[0] for row in db.rows(_MORE_OPEN_BELOW, namespace=namespace_id, visibilities=visibilities)]


def star_or_none(db: Connection, user_id: int, project: Project) -> int | None:
    """Return the id of a user's star on a project."""
    row_id: int | None = db.value(_STARRED, user=user_id, project=project.id)
    return row_id


def member_source(project: Project) -> MemberSource:
    """Return the project as a source of members."""
    return MemberSource("project", project.id, project.namespace_id, project.space_owner_id)


def list_projects(
    db: Connection, actor: Actor, params: ListProjects, page: Page, *also: str, **values: Any
) -> Listing[Project]:
    """List the projects that match and that the caller may see; ``also`` names additional filters."""
    filters = set(also)
    filters |= _filters_from_params(actor, params, values)
    attribute_matches = ids_by_custom_attributes(db, actor, "project", params.custom_attributes)
    if attribute_matches is not None:
        filters.add("chosen")
        values["chosen"] = attribute_matches
    if not actor.known:
        filters.add("public")
    elif not actor.admin and not filters & MEMBERSHIP_FILTERS:
        filters |= _visibility_filters(actor, params)
    if filters & NEED_ACTOR:
        values["actor"] = actor.user_id
    if filters & NEED_TODAY:
        values["today"] = db.today
    return _fetch_page(db, frozenset(filters), params, page, values)


def _visibility_filters(actor: Actor, params: ListProjects) -> set[str]:
    """Return the filters that leave only visible projects.

    With a filter for one visibility, the caller may see either all matching projects or only those of a membership.
    """
    if params.visibility:
        open_to_all = params.visibility == "public" or (params.visibility == "internal" and not actor.external)
        return set() if open_to_all else {"membership"}
    return {"visible_to_external" if actor.external else "visible"}


def _fetch_page(
    db: Connection, filters: frozenset[str], params: ListProjects, page: Page, values: dict[str, Any]
) -> Listing[Project]:
    gathering = ID_LIST_QUERIES.get(filters)
    if gathering is not None and not page.keyset:
        # Cached: the query takes 250 µs for a user with 500 projects, on each page of the list.
        key = ("projects", filters, *values.items())
        ids = db.cached(key, lambda: parse_aggregated(db.value(gathering, **values)), _ids_size)
        return _fetch_among(db, ids or [], params, page)
    lists = project_list_queries(filters, params.order_by, params.sort)
    if page.keyset:
        query = lists.by_scan if filters.isdisjoint(SELECTIVE) else lists.by_lookup
        return fetch_page(db, Project, query, page, **values)
    total = cached_total(db, lists.by_scan.total, values, VISIBILITY if filters <= VERSIONED_FILTERS else ())
    offset = (page.number - 1) * page.size
    if offset >= total:
        return Listing([], page, total)
    query = lists.by_lookup if total <= MAX_LOOKUP_IDS and not filters.isdisjoint(SELECTIVE) else lists.by_scan
    return Listing(_read_page(db, query, page, values), page, total)


def _ids_size(ids: list[int]) -> int:
    return 200 + 40 * len(ids)


def _fetch_among(db: Connection, ids: list[int], params: ListProjects, page: Page) -> Listing[Project]:
    offset = (page.number - 1) * page.size
    if offset >= len(ids):
        return Listing([], page, len(ids))
    lists = project_list_queries(frozenset({"chosen"}), params.order_by, params.sort)
    query = lists.by_lookup if len(ids) <= MAX_LOOKUP_IDS else lists.by_scan
    return Listing(_read_page(db, query, page, {"chosen": ids}), page, len(ids))


def _read_page(db: Connection, query: ListQuery, page: Page, values: dict[str, Any]) -> list[Project]:
    offset = (page.number - 1) * page.size
    ids = [row[0] for row in db.rows(query.by_number, page_size=page.size, page_offset=offset, **values)]
    by_id = {project.id: project for project in db.all(Project, _BY_NUMBERS, projects=ids)}
    # On PostgreSQL, a project may be deleted between the two statements.
    return [by_id[project_id] for project_id in ids if project_id in by_id]


def _filters_from_params(actor: Actor, params: ListProjects, values: dict[str, Any]) -> set[str]:
    """Return the filters that the parameters request, and add their bind parameters to ``values``."""
    filters = {name for name in ("with_issues_enabled", "with_merge_requests_enabled") if getattr(params, name)}
    if params.archived is not None:
        filters.add("archived" if params.archived else "unarchived")
    if params.visibility:
        filters.add("visibility")
        values["wanted_visibility"] = params.visibility
    if params.search:
        filters.add(_search_filter(params.search, values))
    topics = {topic.strip().casefold() for topic in params.topic.split(",")} - {""}
    if topics:
        filters.add("topic")
        values |= {"wanted_topics": sorted(topics), "topics_count": len(topics)}
    for name in ("id_after", "id_before", "last_activity_after", "last_activity_before"):
        if getattr(params, name) is not None:
            filters.add(name)
            values[name] = getattr(params, name)
    if actor.known:
        filters |= {name for name in ("membership", "owned", "starred") if getattr(params, name)}
        if params.min_access_level is not None:
            filters.add("at_least")
            values["least"] = params.min_access_level
    return filters


def _search_filter(text: str, values: dict[str, Any]) -> str:
    """Return the filter for a text in the name or path, and add its bind parameter to ``values``."""
    if is_indexed(text):
        values["needle"] = search_term(text)
        return "search"
    values["pattern"] = like_pattern(text)
    return "short_search"


def search_projects_by_name(
    db: Connection, actor: Actor, text: str, params: ListProjects, page: Page
) -> Listing[Project]:
    """List the projects whose name contains a text."""
    if is_indexed(text):
        return list_projects(db, actor, params, page, "name", name_needle=search_term(text))
    return list_projects(db, actor, params, page, "short_name", name_pattern=like_pattern(text))


def list_group_projects(
    db: Connection,
    actor: Actor,
    group: Namespace,
    params: ListProjects,
    page: Page,
    *,
    deep: bool = False,
    with_shared: bool = False,
) -> Listing[Project]:
    """List a group's projects; ``deep`` includes its descendants, ``with_shared`` the projects shared with it."""
    scope = ("below_group" if deep else "in_group") + ("_or_shared" if with_shared else "")
    return list_projects(db, actor, params, page, scope, group=group.id)


def list_shared_projects(
    db: Connection, actor: Actor, group: Namespace, params: ListProjects, page: Page
) -> Listing[Project]:
    """List the projects that are shared with a group."""
    return list_projects(db, actor, params, page, "shared_with", group=group.id)
