"""How projects are found and listed."""

from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, bindparam, exists, func, or_, select
from sqlalchemy.sql.selectable import ScalarSelect

from ingot.access.actor import Actor
from ingot.access.levels import Access, Level
from ingot.api.params import number_or_none
from ingot.db.connection import Connection
from ingot.db.expressions import any_of, contains, like_pattern, unindexed
from ingot.db.paging import Listing, ListQuery, Page, fetch_page, list_query, sum_of_counts
from ingot.db.times import day_of
from ingot.errors import NotFound
from ingot.groups.members.queries import Source
from ingot.groups.namespaces.policy import counts_today, held_in, held_in_group, unpacked
from ingot.groups.namespaces.queries import moved_namespace, namespace_by_path
from ingot.groups.namespaces.tables import Namespace, namespace_tree, namespaces
from ingot.projects import policy
from ingot.projects.params import ListProjects
from ingot.projects.tables import Project, project_redirects, project_topics, projects, shares, stars
from ingot.users.accounts.tables import users

# A deleted project has no namespace, so the join leaves it out of everything.
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
_BY_NUMBER = PROJECTS.where(projects.c.id == bindparam("project"))
_WITH_ACCESS = PROJECTS.add_columns(
    held_in("project", projects.c.id),
    held_in_group(projects.c.namespace_id),
    policy.shared_level(),
    exists().where(shares.c.project_id == projects.c.id).label("shared"),
    exists().where(project_topics.c.project_id == projects.c.id).label("tagged"),
)
_BY_ID = _WITH_ACCESS.where(projects.c.id == bindparam("project"))
_BY_PATH = _WITH_ACCESS.where(projects.c.full_path_key == bindparam("path"))
_REDIRECT = select(project_redirects.c.project_id).where(
    project_redirects.c.namespace_id == bindparam("namespace"), project_redirects.c.path_key == bindparam("path")
)
_ID_BY_PATH = select(projects.c.id).where(projects.c.full_path_key == bindparam("path"))
_IN_NAMESPACE = PROJECTS.where(projects.c.namespace_id == bindparam("namespace")).order_by(projects.c.id)
_COUNT_IN = select(func.count()).where(projects.c.namespace_id == bindparam("namespace"))
_NAMESAKE = select(projects.c.id).where(
    projects.c.namespace_id == bindparam("namespace"), projects.c.name == bindparam("name")
)
_MORE_OPEN_FORKS = select(projects.c.id).where(
    projects.c.forked_from_id == bindparam("project"), any_of(projects.c.visibility, "visibilities")
)
_MORE_OPEN_BELOW = (
    select(projects.c.id)
    .join(namespace_tree, namespace_tree.c.descendant_id == projects.c.namespace_id)
    .where(namespace_tree.c.ancestor_id == bindparam("namespace"), any_of(projects.c.visibility, "visibilities"))
)
_STARRED = select(stars.c.id).where(stars.c.user_id == bindparam("user"), stars.c.project_id == bindparam("project"))


def find_project(db: Connection, actor: Actor, name: str | int) -> tuple[Access, Project]:
    """The project with this number or full path, also an old one, and what the caller holds in it."""
    found = find_with_access(db, actor, name)
    return found.here, found.project


def find_with_access(db: Connection, actor: Actor, name: str | int) -> policy.Found:
    """The same, with all that one look at it tells."""
    number = number_or_none(str(name))
    held = {"actor": actor.user_id, "today": day_of(db.now)}
    if number is not None:
        rows = db.rows(_BY_ID, project=number, **held)
    else:
        rows = db.rows(_BY_PATH, path=str(name).lower(), **held)
        if not rows:
            moved = _moved_project(db, str(name).lower())
            rows = db.rows(_BY_ID, project=moved, **held) if moved is not None else []
    if not rows:
        raise NotFound("Project")
    *columns, own, group, by_share, shared, tagged = rows[0]
    project = Project(*columns)
    here = _access(actor, project, unpacked(own), unpacked(group), by_share)
    if not policy.may_see_project(actor, here, project):
        raise NotFound("Project")
    return policy.Found(here, project, bool(shared), bool(tagged))


def _access(
    actor: Actor, project: Project, own: tuple[int, int] | None, group: tuple[int, int] | None, shared: int | None
) -> Access:
    owner = Level.OWNER if project.space_owner_id == actor.user_id and actor.known else Level.NONE
    own_level, own_notifications = own or (None, None)
    group_level, group_notifications = group or (None, None)
    return Access(
        level=Level(max(own_level or 0, group_level or 0, shared or 0, owner)),
        own=own_level,
        group=group_level,
        own_notifications=own_notifications,
        group_notifications=group_notifications,
    )


def _moved_project(db: Connection, path: str) -> int | None:
    """Where a path leads that a project, or the namespace around it, or first one and then the other had before."""
    around, _, last = path.rpartition("/")
    if not around:
        return None
    namespace = namespace_by_path(db, around) or moved_namespace(db, around)
    if namespace is None:
        return None
    found: int | None = db.value(_ID_BY_PATH, path=f"{namespace.full_path_key}/{last}")
    return found if found is not None else db.value(_REDIRECT, namespace=namespace.id, path=last)


def project_or_none(db: Connection, project_id: int) -> Project | None:
    """The project with this number, whoever asks."""
    return db.first(Project, _BY_NUMBER, project=project_id)


def project_by_id(db: Connection, project_id: int) -> Project:
    """The same, which must be there."""
    project = project_or_none(db, project_id)
    if project is None:
        raise NotFound("Project")
    return project


def project_id_by_path(db: Connection, full_path: str) -> int | None:
    """Which project has this full path now."""
    found: int | None = db.value(_ID_BY_PATH, path=full_path.lower())
    return found


def projects_in(db: Connection, namespace_id: int) -> list[Project]:
    """All projects directly in a namespace."""
    return db.all(Project, _IN_NAMESPACE, namespace=namespace_id)


def count_personal_projects(db: Connection, namespace_id: int) -> int:
    """How many projects count against the limit of a namespace's user."""
    count: int = db.value(_COUNT_IN, namespace=namespace_id)
    return count


def project_id_by_name(db: Connection, namespace_id: int, name: str) -> int | None:
    """Which project of a namespace has this very name."""
    found: int | None = db.value(_NAMESAKE, namespace=namespace_id, name=name)
    return found


def more_open_forks(db: Connection, project_id: int, visibilities: list[str]) -> list[int]:
    """The forks of a project that have one of these visibilities."""
    return [row[0] for row in db.rows(_MORE_OPEN_FORKS, project=project_id, visibilities=visibilities)]


def more_open_below(db: Connection, namespace_id: int, visibilities: list[str]) -> list[int]:
    """The projects in a group, however deep, that have one of these visibilities."""
    return [row[0] for row in db.rows(_MORE_OPEN_BELOW, namespace=namespace_id, visibilities=visibilities)]


def star_or_none(db: Connection, user_id: int, project: Project) -> int | None:
    """The row that says that a user starred a project."""
    row_id: int | None = db.value(_STARRED, user=user_id, project=project.id)
    return row_id


def source_of(project: Project) -> Source:
    """The project as the one that has members."""
    return Source("project", project.id, project.namespace_id, project.space_owner_id)


def _starred_by(name: str) -> ScalarSelect[int]:
    return select(stars.c.project_id).where(stars.c.user_id == bindparam(name)).scalar_subquery()


def _shared_with(groups: ColumnElement[bool]) -> ColumnElement[bool]:
    shared = select(shares.c.project_id).where(groups, counts_today(shares.c.expires_at))
    return projects.c.id.in_(shared.scalar_subquery())


_TAGGED = select(project_topics.c.project_id).where(any_of(project_topics.c.name_key, "wanted_topics"))
_OWN_SPACE = select(namespaces.c.id).where(namespaces.c.owner_id == bindparam("owner"))
_BELOW = select(namespace_tree.c.descendant_id).where(namespace_tree.c.ancestor_id == bindparam("group"))
_IN_GROUP = projects.c.namespace_id == bindparam("group")
_BELOW_GROUP = projects.c.namespace_id.in_(_BELOW.scalar_subquery())
_SHARED_WITH = _shared_with(shares.c.group_id == bindparam("group"))
_BROAD = {
    "public": projects.c.visibility == "public",
    "visible": policy.visible_projects(external=False),
    "visible_to_external": policy.visible_projects(external=True),
    "archived": projects.c.archived.is_(True),
    "unarchived": projects.c.archived.is_(False),
    "visibility": projects.c.visibility == bindparam("wanted_visibility"),
    "search": or_(contains(projects.c.name_key, "pattern"), contains(projects.c.full_path_key, "pattern")),
    "name": contains(projects.c.name_key, "name_pattern"),
    "with_issues_enabled": projects.c.issues_enabled.is_(True),
    "with_merge_requests_enabled": projects.c.merge_requests_enabled.is_(True),
    "id_after": projects.c.id > bindparam("id_after"),
    "id_before": projects.c.id < bindparam("id_before"),
    "last_activity_after": projects.c.last_activity_at >= bindparam("last_activity_after"),
    "last_activity_before": projects.c.last_activity_at <= bindparam("last_activity_before"),
}
# These say which projects they mean; mostly they are few.
_FEW = {
    "membership": policy.belongs_to_project(),
    "owned": policy.owned_projects(),
    "at_least": policy.belongs_to_project(bindparam("least")),
    "starred": projects.c.id.in_(_starred_by("actor")),
    "starred_by": projects.c.id.in_(_starred_by("starrer")),
    "topic": projects.c.id.in_(_TAGGED.scalar_subquery()),
    "of_user": projects.c.namespace_id == _OWN_SPACE.scalar_subquery(),
    "forks": projects.c.forked_from_id == bindparam("forked_from"),
    "in_group": _IN_GROUP,
    "below_group": _BELOW_GROUP,
    "shared_with": _SHARED_WITH,
    "in_group_or_shared": or_(_IN_GROUP, _SHARED_WITH),
    "below_group_or_shared": or_(_BELOW_GROUP, _shared_with(shares.c.group_id.in_(_BELOW.scalar_subquery()))),
}
_CONDITIONS = {**_BROAD, **_FEW}
# The same for those who walk through all projects in an order: no index on what most rows meet leads them off it.
_ALONG_THE_WAY = {
    **_CONDITIONS,
    "public": projects.c.visibility.concat("") == "public",
    "visibility": projects.c.visibility.concat("") == bindparam("wanted_visibility"),
    "membership": policy.belongs_to_this_project(),
    "at_least": policy.belongs_to_this_project(bindparam("least")),
    "starred": unindexed(projects.c.id).in_(_starred_by("actor")),
    "starred_by": unindexed(projects.c.id).in_(_starred_by("starrer")),
    "topic": unindexed(projects.c.id).in_(_TAGGED.scalar_subquery()),
}
# And for those who look up the few that are meant: only what says which ones leads to them.
_OF_THE_FEW = {**_ALONG_THE_WAY, **_FEW}
_ALL = select(func.count()).select_from(projects).scalar_subquery()
_DELETED = select(func.count()).where(projects.c.namespace_id.is_(None)).scalar_subquery()
# These are counted without a look at any row: who deletes a project lets its members and shares go at once.
_WITHOUT_ROWS: dict[frozenset[str], Select[Any]] = {
    frozenset(): select(_ALL - _DELETED),
    frozenset({"membership"}): select(func.count()).select_from(policy.projects_of_actor().subquery()),
    frozenset({"at_least"}): select(func.count()).select_from(policy.projects_of_actor(bindparam("least")).subquery()),
}
_ALIVE = unindexed(projects.c.namespace_id).is_not(None)
_SEEN = frozenset({"visible", "visible_to_external"})
# What belongs to somebody is seen by them, whatever else it is.
_THEIRS = frozenset({"membership", "owned", "at_least"})
_NEED_ACTOR = _SEEN | _THEIRS | {"starred"}
_NEED_TODAY = _SEEN | _THEIRS | {"shared_with", "in_group_or_shared", "below_group_or_shared"}
# Up to here it is cheaper to look each of them up than to meet them on a walk through all.
MOST_LOOKED_UP = 250


class _Lists(NamedTuple):
    """The statements of one filter shape."""

    looked_up: ListQuery
    """Finds what matches, then sorts it."""
    walking: ListQuery
    """Goes along the order until a page is full."""


@lru_cache(maxsize=1024)
def _lists(filters: frozenset[str], order_by: str, sort: str) -> _Lists:
    total = _total(filters)
    return _Lists(
        _list_query([_OF_THE_FEW[name] for name in sorted(filters)], total, order_by, sort),
        _list_query([_ALONG_THE_WAY[name] for name in sorted(filters)], total, order_by, sort),
    )


def _list_query(conditions: list[ColumnElement[bool]], total: Select[Any], order_by: str, sort: str) -> ListQuery:
    """Which rows they are is found on narrow indexes; whole rows are read for one page only."""
    column = projects.c[f"{order_by}_key" if order_by in ("name", "path") else order_by]
    upward = [column.asc(), projects.c.id.asc()]
    downward = [column.desc(), projects.c.id.desc()]
    order = (upward if sort == "asc" else downward)[1 if order_by == "id" else 0 :]
    narrow = list_query(select(projects.c.id).where(_ALIVE, *conditions), projects.c.id, *order)
    return ListQuery(
        _whole(narrow.by_number).order_by(*order),
        total,
        _whole(narrow.by_key_up).order_by(projects.c.id.asc()),
        _whole(narrow.by_key_down).order_by(projects.c.id.desc()),
    )


def _whole(page: Select[Any]) -> Select[Any]:
    """The rows of a page of ids."""
    chosen = page.subquery()
    return PROJECTS.where(projects.c.id.in_(select(chosen.c.id).scalar_subquery()))


def _total(filters: frozenset[str]) -> Select[Any]:
    """Most projects are seen because they are open: counting these by an index, and then the few others, is cheap."""
    if filters in _WITHOUT_ROWS:
        return _WITHOUT_ROWS[filters]
    if not filters.isdisjoint(_FEW):
        return sum_of_counts([_ALIVE, *(_OF_THE_FEW[name] for name in sorted(filters))])
    seen = filters & _SEEN
    others = [_CONDITIONS[name] for name in sorted(filters - seen)]
    if not seen:
        return sum_of_counts([_ALIVE, *others])
    opened = ("public", "internal") if "visible" in filters else ("public",)
    closed = [projects.c.visibility != word for word in opened]
    return sum_of_counts(
        *([projects.c.namespace_id.is_not(None), *others, projects.c.visibility == word] for word in opened),
        [_ALIVE, *others, *closed, policy.belongs_to_project()],
    )


def list_projects(
    db: Connection, actor: Actor, wanted: ListProjects, page: Page, *also: str, **values: Any
) -> Listing[Project]:
    """A page of the projects that match and that the caller may see; ``also`` names further conditions."""
    filters = set(also)
    filters |= _wanted_filters(actor, wanted, values)
    if not actor.known:
        filters.add("public")
    elif not actor.admin and not filters & _THEIRS:
        filters |= _seen_by(actor, wanted)
    if filters & _NEED_ACTOR:
        values["actor"] = actor.user_id
    if filters & _NEED_TODAY:
        values["today"] = day_of(db.now)
    return _fetch(db, frozenset(filters), wanted, page, values)


def _seen_by(actor: Actor, wanted: ListProjects) -> set[str]:
    """What leaves only projects that a user may see; of one visibility they see all, or those that are theirs."""
    if wanted.visibility:
        opened = wanted.visibility == "public" or (wanted.visibility == "internal" and not actor.external)
        return set() if opened else {"membership"}
    return {"visible_to_external" if actor.external else "visible"}


def _fetch(
    db: Connection, filters: frozenset[str], wanted: ListProjects, page: Page, values: dict[str, Any]
) -> Listing[Project]:
    lists = _lists(filters, wanted.order_by, wanted.sort)
    if page.keyset:
        query = lists.walking if filters.isdisjoint(_FEW) else lists.looked_up
        return fetch_page(db, Project, query, page, **values)
    total: int = db.value(lists.walking.total, **values)
    offset = (page.number - 1) * page.size
    if offset >= total:
        return Listing([], page, total)
    query = lists.looked_up if total <= MOST_LOOKED_UP and not filters.isdisjoint(_FEW) else lists.walking
    items = db.all(Project, query.by_number, page_size=page.size, page_offset=offset, **values)
    return Listing(items, page, total)


def _wanted_filters(actor: Actor, wanted: ListProjects, values: dict[str, Any]) -> set[str]:
    """The conditions that the parameters ask for; what they are bound to goes into ``values``."""
    filters = {name for name in ("with_issues_enabled", "with_merge_requests_enabled") if getattr(wanted, name)}
    if wanted.archived is not None:
        filters.add("archived" if wanted.archived else "unarchived")
    if wanted.visibility:
        filters.add("visibility")
        values["wanted_visibility"] = wanted.visibility
    if wanted.search:
        filters.add("search")
        values["pattern"] = like_pattern(wanted.search)
    if wanted.topic:
        filters.add("topic")
        values["wanted_topics"] = [topic.strip().casefold() for topic in wanted.topic.split(",")]
    for name in ("id_after", "id_before", "last_activity_after", "last_activity_before"):
        if getattr(wanted, name) is not None:
            filters.add(name)
            values[name] = getattr(wanted, name)
    if actor.known:
        filters |= {name for name in ("membership", "owned", "starred") if getattr(wanted, name)}
        if wanted.min_access_level is not None:
            filters.add("at_least")
            values["least"] = wanted.min_access_level
    return filters


def list_group_projects(
    db: Connection,
    actor: Actor,
    group: Namespace,
    wanted: ListProjects,
    page: Page,
    *,
    deep: bool = False,
    with_shared: bool = False,
) -> Listing[Project]:
    """A page of a group's projects, of the groups in it when ``deep``, and of those that were shared with it."""
    place = ("below_group" if deep else "in_group") + ("_or_shared" if with_shared else "")
    return list_projects(db, actor, wanted, page, place, group=group.id)


def list_shared_projects(
    db: Connection, actor: Actor, group: Namespace, wanted: ListProjects, page: Page
) -> Listing[Project]:
    """A page of the projects that were shared with a group."""
    return list_projects(db, actor, wanted, page, "shared_with", group=group.id)
