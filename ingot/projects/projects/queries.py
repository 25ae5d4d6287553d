"""How projects are found and listed."""

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import bindparam, exists, func, select

from ingot.accounts.users.tables import User
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access, Level
from ingot.core.api.params import number_or_none
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list, like_pattern, parse_aggregated
from ingot.core.db.paging import Listing, ListQuery, Page, fetch_page
from ingot.core.db.search import is_indexed, search_term
from ingot.core.db.times import Date, day_of
from ingot.errors import NotFound
from ingot.projects.members.queries import MemberSource
from ingot.projects.namespaces.custom_attributes import ids_by_custom_attributes
from ingot.projects.namespaces.policy import (
    packed_level_by_invitation,
    packed_level_in_group,
    packed_level_in_source,
    unpack_levels,
)
from ingot.projects.namespaces.queries import namespace_by_old_path, namespace_by_path
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
    project_list_queries,
)
from ingot.projects.projects.params import ListProjects
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
# As a union without doubles it ends also where a line leads back into itself.
_FORK_ANCESTRY = select(
    _FORK_ANCESTRY_STEP.union(
        select(projects.c.id, projects.c.forked_from_id).join(
            _FORK_ANCESTRY_STEP, projects.c.id == _FORK_ANCESTRY_STEP.c.forked_from_id
        )
    ).c.id
)
_STARRED = select(stars.c.id).where(stars.c.user_id == bindparam("user"), stars.c.project_id == bindparam("project"))


def find_project(db: Connection, actor: Actor, name: str | int) -> tuple[Access, Project]:
    """The project with this number or full path, for who looks also an old one, and what the caller holds in it."""
    found = find_project_lookup(db, actor, name)
    return found.here, found.project


def find_project_lookup(db: Connection, actor: Actor, name: str | int) -> policy.ProjectLookup:
    """The same, with all that one look at it tells."""
    user_id, today = actor.user_id, day_of(db.now)
    found = db.cached(
        ("project", name, user_id, today, db.follow_redirects),
        lambda: _project_lookup_or_none(db, user_id, today, str(name)),
        _lookup_size,
    )
    if found is None or not policy.may_see_project(actor, found.here, found.project):
        raise NotFound("Project")
    return found


def _project_lookup_or_none(db: Connection, user_id: int, today: Date, id_or_path: str) -> policy.ProjectLookup | None:
    """A project and what a user holds in it, whether they may see it or not."""
    number = number_or_none(id_or_path)
    held = {"actor": user_id, "today": today}
    if number is not None:
        rows = db.rows(_BY_ID, project=number, **held)
    else:
        rows = db.rows(_BY_PATH, path=id_or_path.lower(), **held)
        if not rows and db.follow_redirects:
            moved = _redirect_target(db, id_or_path.lower())
            rows = db.rows(_BY_ID, project=moved, **held) if moved is not None else []
    return _lookup_from_row(user_id, rows[0]) if rows else None


def _lookup_from_row(user_id: int, row: tuple[Any, ...]) -> policy.ProjectLookup:
    *columns, own, group, by_share, by_invitation, shared, tagged = row
    project = Project(*columns)
    here = _access(user_id, project, unpack_levels(own), unpack_levels(group), max(by_share or 0, by_invitation or 0))
    return policy.ProjectLookup(here, project, bool(shared), bool(tagged))


def visible_projects_by_path(db: Connection, actor: Actor, paths: Iterable[str]) -> dict[str, policy.ProjectLookup]:
    """The projects at these full paths that the caller may see, by their folded paths; one statement for all."""
    values = {"actor": actor.user_id, "today": day_of(db.now)}
    rows = db.rows(_BY_PATHS, paths=sorted({path.lower() for path in paths}), **values)
    found = (_lookup_from_row(actor.user_id, row) for row in rows)
    return {one.project.full_path.lower(): one for one in found if policy.may_see_project(actor, one.here, one.project)}


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
    """Where a path leads that a project, or the namespace around it, or first one and then the other had before."""
    around, _, last = path.rpartition("/")
    if not around:
        return None
    namespace = namespace_by_path(db, around) or namespace_by_old_path(db, around)
    if namespace is None:
        return None
    found: int | None = db.value(_ID_BY_PATH, path=f"{namespace.full_path_key}/{last}")
    return found if found is not None else db.value(_REDIRECT, namespace=namespace.id, path=last)


def user_access_or_none(db: Connection, user: User, project: Project) -> Access | None:
    """What a user holds in a project, or nothing where they cannot see it."""
    actor = Actor(user_id=user.id, username=user.username, name=user.name, admin=user.admin, external=user.external)
    try:
        return find_project(db, actor, project.id)[0]
    except NotFound:
        return None


def paths_of_projects(db: Connection, project_ids: Sequence[int]) -> dict[int, str]:
    """The full paths of projects by number, whoever asks; one statement for all."""
    return dict(db.rows(_PATHS, projects=list(project_ids)))


def projects_by_ids(db: Connection, project_ids: Sequence[int]) -> dict[int, Project]:
    """The projects with these numbers, whoever asks; one statement for all."""
    return {project.id: project for project in db.all(Project, _BY_NUMBERS, projects=list(project_ids))}


def project_or_none(db: Connection, project_id: int) -> Project | None:
    """The project with this number, whoever asks."""
    return db.first(Project, _BY_NUMBER, project=project_id)


def existing_project(db: Connection, project_id: int) -> Project:
    """The same, which must be there."""
    project = project_or_none(db, project_id)
    if project is None:
        raise NotFound("Project")
    return project


def project_id_by_path_or_none(db: Connection, full_path: str) -> int | None:
    """Which project has this full path now."""
    found: int | None = db.value(_ID_BY_PATH, path=full_path.lower())
    return found


def projects_in_namespace(db: Connection, namespace_id: int) -> list[Project]:
    """All projects directly in a namespace."""
    return db.all(Project, _IN_NAMESPACE, namespace=namespace_id)


def count_personal_projects(db: Connection, namespace_id: int) -> int:
    """How many projects count against the limit of a namespace's user."""
    count: int = db.value(_COUNT_IN, namespace=namespace_id)
    return count


def project_id_by_name_or_none(db: Connection, namespace_id: int, name: str) -> int | None:
    """Which project of a namespace has this very name."""
    found: int | None = db.value(_BY_NAME, namespace=namespace_id, name=name)
    return found


def more_open_forks(db: Connection, project_id: int, visibilities: list[str]) -> list[int]:
    """The forks of a project that have one of these visibilities."""
    return [row[0] for row in db.rows(_MORE_OPEN_FORKS, project=project_id, visibilities=visibilities)]


def fork_ancestry(db: Connection, project_id: int) -> list[int]:
    """A project, what it was forked from, what that was forked from, and so on."""
    return [row[0] for row in db.rows(_FORK_ANCESTRY, project=project_id)]


def more_open_below(db: Connection, namespace_id: int, visibilities: list[str]) -> list[int]:
    """The projects in a group, however deep, that have one of these visibilities."""
    return [row[0] for row in db.rows(_MORE_OPEN_BELOW, namespace=namespace_id, visibilities=visibilities)]


def star_or_none(db: Connection, user_id: int, project: Project) -> int | None:
    """The row that says that a user starred a project."""
    row_id: int | None = db.value(_STARRED, user=user_id, project=project.id)
    return row_id


def member_source(project: Project) -> MemberSource:
    """The project as the one that has members."""
    return MemberSource("project", project.id, project.namespace_id, project.space_owner_id)


def list_projects(
    db: Connection, actor: Actor, params: ListProjects, page: Page, *also: str, **values: Any
) -> Listing[Project]:
    """A page of the projects that match and that the caller may see; ``also`` names further conditions."""
    filters = set(also)
    filters |= _filters_from_params(actor, params, values)
    noted = ids_by_custom_attributes(db, actor, "project", params.custom_attributes)
    if noted is not None:
        filters.add("chosen")
        values["chosen"] = noted
    if not actor.known:
        filters.add("public")
    elif not actor.admin and not filters & MEMBERSHIP_FILTERS:
        filters |= _visibility_filters(actor, params)
    if filters & NEED_ACTOR:
        values["actor"] = actor.user_id
    if filters & NEED_TODAY:
        values["today"] = day_of(db.now)
    return _fetch_page(db, frozenset(filters), params, page, values)


def _visibility_filters(actor: Actor, params: ListProjects) -> set[str]:
    """What leaves only projects that a user may see; of one visibility they see all, or those that are theirs."""
    if params.visibility:
        opened = params.visibility == "public" or (params.visibility == "internal" and not actor.external)
        return set() if opened else {"membership"}
    return {"visible_to_external" if actor.external else "visible"}


def _fetch_page(
    db: Connection, filters: frozenset[str], params: ListProjects, page: Page, values: dict[str, Any]
) -> Listing[Project]:
    gathering = ID_LIST_QUERIES.get(filters)
    if gathering is not None and not page.keyset:
        # 250 µs for somebody with 500 projects, at every page that they look through.
        key = ("projects", filters, *values.items())
        ids = db.cached(key, lambda: parse_aggregated(db.value(gathering, **values)), _ids_size)
        return _fetch_among(db, ids or [], params, page)
    lists = project_list_queries(filters, params.order_by, params.sort)
    if page.keyset:
        query = lists.walking if filters.isdisjoint(SELECTIVE) else lists.looked_up
        return fetch_page(db, Project, query, page, **values)
    total: int = db.value(lists.walking.total, **values)
    offset = (page.number - 1) * page.size
    if offset >= total:
        return Listing([], page, total)
    query = lists.looked_up if total <= MAX_LOOKUP_IDS and not filters.isdisjoint(SELECTIVE) else lists.walking
    return Listing(_read_page(db, query, page, values), page, total)


def _ids_size(ids: list[int]) -> int:
    return 200 + 40 * len(ids)


def _fetch_among(db: Connection, ids: list[int], params: ListProjects, page: Page) -> Listing[Project]:
    offset = (page.number - 1) * page.size
    if offset >= len(ids):
        return Listing([], page, len(ids))
    lists = project_list_queries(frozenset({"chosen"}), params.order_by, params.sort)
    query = lists.looked_up if len(ids) <= MAX_LOOKUP_IDS else lists.walking
    return Listing(_read_page(db, query, page, {"chosen": ids}), page, len(ids))


def _read_page(db: Connection, query: ListQuery, page: Page, values: dict[str, Any]) -> list[Project]:
    offset = (page.number - 1) * page.size
    ids = [row[0] for row in db.rows(query.by_number, page_size=page.size, page_offset=offset, **values)]
    found = {project.id: project for project in db.all(Project, _BY_NUMBERS, projects=ids)}
    # One may have gone in between, where a server's statements do not all see the same moment.
    return [found[project_id] for project_id in ids if project_id in found]


def _filters_from_params(actor: Actor, params: ListProjects, values: dict[str, Any]) -> set[str]:
    """The conditions that the parameters ask for; what they are bound to goes into ``values``."""
    filters = {name for name in ("with_issues_enabled", "with_merge_requests_enabled") if getattr(params, name)}
    if params.archived is not None:
        filters.add("archived" if params.archived else "unarchived")
    if params.visibility:
        filters.add("visibility")
        values["wanted_visibility"] = params.visibility
    if params.search:
        filters.add(_search_filter(params.search, values))
    if params.topic:
        filters.add("topic")
        values["wanted_topics"] = [topic.strip().casefold() for topic in params.topic.split(",")]
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
    """The condition that a text is in the name or path; what it is bound to goes into ``values``."""
    if is_indexed(text):
        values["needle"] = search_term(text)
        return "search"
    values["pattern"] = like_pattern(text)
    return "short_search"


def search_projects_by_name(
    db: Connection, actor: Actor, text: str, params: ListProjects, page: Page
) -> Listing[Project]:
    """A page of the projects with a text in their name."""
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
    """A page of a group's projects, of the groups in it when ``deep``, and of those that were shared with it."""
    place = ("below_group" if deep else "in_group") + ("_or_shared" if with_shared else "")
    return list_projects(db, actor, params, page, place, group=group.id)


def list_shared_projects(
    db: Connection, actor: Actor, group: Namespace, params: ListProjects, page: Page
) -> Listing[Project]:
    """A page of the projects that were shared with a group."""
    return list_projects(db, actor, params, page, "shared_with", group=group.id)
