"""How projects are found and listed."""

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import bindparam, exists, func, select

from ingot.access.actor import Actor
from ingot.access.levels import Access, Level
from ingot.api.params import number_or_none
from ingot.db.connection import Connection
from ingot.db.expressions import any_of, as_list, like_pattern
from ingot.db.paging import Listing, ListQuery, Page, fetch_page
from ingot.db.search import is_indexed, needle
from ingot.db.times import Date, day_of
from ingot.errors import NotFound
from ingot.groups.members.queries import Source
from ingot.groups.namespaces.attributes import chosen_by_attributes
from ingot.groups.namespaces.policy import held_by_invitation, held_in, held_in_group, unpacked
from ingot.groups.namespaces.queries import moved_namespace, namespace_by_path
from ingot.groups.namespaces.tables import Namespace, namespace_tree
from ingot.projects import policy
from ingot.projects.filters import FEW, GATHERED, MOST_LOOKED_UP, NEED_ACTOR, NEED_TODAY, PROJECTS, THEIRS, lists_of
from ingot.projects.params import ListProjects
from ingot.projects.tables import Project, project_redirects, project_topics, projects, shares, stars
from ingot.users.accounts.tables import User

_BY_NUMBER = PROJECTS.where(projects.c.id == bindparam("project"))
_BY_NUMBERS = PROJECTS.where(any_of(projects.c.id, "projects"))
_WITH_ACCESS = PROJECTS.add_columns(
    held_in("project", projects.c.id),
    held_in_group(projects.c.namespace_id),
    policy.shared_level(),
    held_by_invitation(projects.c.namespace_id),
    exists().where(shares.c.project_id == projects.c.id).label("shared"),
    exists().where(project_topics.c.project_id == projects.c.id).label("tagged"),
)
_BY_ID = _WITH_ACCESS.where(projects.c.id == bindparam("project"))
_BY_PATH = _WITH_ACCESS.where(projects.c.full_path_key == bindparam("path"))
_BY_PATHS = _WITH_ACCESS.where(any_of(projects.c.full_path_key, "paths"))
_REDIRECT = select(project_redirects.c.project_id).where(
    project_redirects.c.namespace_id == bindparam("namespace"), project_redirects.c.path_key == bindparam("path")
)
_PATHS = select(projects.c.id, projects.c.full_path).where(any_of(projects.c.id, "projects"))
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
_LINE = (
    select(projects.c.id, projects.c.forked_from_id).where(projects.c.id == bindparam("project")).cte(recursive=True)
)
# As a union without doubles it ends also where a line leads back into itself.
_FORK_LINE = select(
    _LINE.union(
        select(projects.c.id, projects.c.forked_from_id).join(_LINE, projects.c.id == _LINE.c.forked_from_id)
    ).c.id
)
_STARRED = select(stars.c.id).where(stars.c.user_id == bindparam("user"), stars.c.project_id == bindparam("project"))


def find_project(db: Connection, actor: Actor, name: str | int) -> tuple[Access, Project]:
    """The project with this number or full path, for who looks also an old one, and what the caller holds in it."""
    found = find_with_access(db, actor, name)
    return found.here, found.project


def find_with_access(db: Connection, actor: Actor, name: str | int) -> policy.Found:
    """The same, with all that one look at it tells."""
    user_id, today = actor.user_id, day_of(db.now)
    found = db.kept(
        ("project", name, user_id, today, db.leads_on), lambda: _look_up(db, user_id, today, str(name)), _found_bytes
    )
    if found is None or not policy.may_see_project(actor, found.here, found.project):
        raise NotFound("Project")
    return found


def _look_up(db: Connection, user_id: int, today: Date, name: str) -> policy.Found | None:
    """A project and what a user holds in it, whether they may see it or not."""
    number = number_or_none(name)
    held = {"actor": user_id, "today": today}
    if number is not None:
        rows = db.rows(_BY_ID, project=number, **held)
    else:
        rows = db.rows(_BY_PATH, path=name.lower(), **held)
        if not rows and db.leads_on:
            moved = _moved_project(db, name.lower())
            rows = db.rows(_BY_ID, project=moved, **held) if moved is not None else []
    return _found(user_id, rows[0]) if rows else None


def _found(user_id: int, row: tuple[Any, ...]) -> policy.Found:
    *columns, own, group, by_share, by_invitation, shared, tagged = row
    project = Project(*columns)
    here = _access(user_id, project, unpacked(own), unpacked(group), max(by_share or 0, by_invitation or 0))
    return policy.Found(here, project, bool(shared), bool(tagged))


def seen_by_paths(db: Connection, actor: Actor, paths: Iterable[str]) -> dict[str, policy.Found]:
    """The projects at these full paths that the caller may see, by their folded paths; one statement for all."""
    values = {"actor": actor.user_id, "today": day_of(db.now)}
    rows = db.rows(_BY_PATHS, paths=sorted({path.lower() for path in paths}), **values)
    found = (_found(actor.user_id, row) for row in rows)
    return {one.project.full_path.lower(): one for one in found if policy.may_see_project(actor, one.here, one.project)}


def _found_bytes(found: policy.Found) -> int:
    return 6_000 + 4 * len(found.project.description or "")


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


def access_of_user(db: Connection, user: User, project: Project) -> Access | None:
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


def fork_line(db: Connection, project_id: int) -> list[int]:
    """A project, what it was forked from, what that was forked from, and so on."""
    return [row[0] for row in db.rows(_FORK_LINE, project=project_id)]


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


def list_projects(
    db: Connection, actor: Actor, wanted: ListProjects, page: Page, *also: str, **values: Any
) -> Listing[Project]:
    """A page of the projects that match and that the caller may see; ``also`` names further conditions."""
    filters = set(also)
    filters |= _wanted_filters(actor, wanted, values)
    noted = chosen_by_attributes(db, actor, "project", wanted.custom_attributes)
    if noted is not None:
        filters.add("chosen")
        values["chosen"] = noted
    if not actor.known:
        filters.add("public")
    elif not actor.admin and not filters & THEIRS:
        filters |= _seen_by(actor, wanted)
    if filters & NEED_ACTOR:
        values["actor"] = actor.user_id
    if filters & NEED_TODAY:
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
    gathering = GATHERED.get(filters)
    if gathering is not None and not page.keyset:
        # 250 µs for somebody with 500 projects, at every page that they look through.
        key = ("projects", filters, *values.items())
        ids = db.kept(key, lambda: as_list(db.value(gathering, **values)), _ids_bytes)
        return _fetch_among(db, ids or [], wanted, page)
    lists = lists_of(filters, wanted.order_by, wanted.sort)
    if page.keyset:
        query = lists.walking if filters.isdisjoint(FEW) else lists.looked_up
        return fetch_page(db, Project, query, page, **values)
    total: int = db.value(lists.walking.total, **values)
    offset = (page.number - 1) * page.size
    if offset >= total:
        return Listing([], page, total)
    query = lists.looked_up if total <= MOST_LOOKED_UP and not filters.isdisjoint(FEW) else lists.walking
    return Listing(_read_page(db, query, page, values), page, total)


def _ids_bytes(ids: list[int]) -> int:
    return 200 + 40 * len(ids)


def _fetch_among(db: Connection, ids: list[int], wanted: ListProjects, page: Page) -> Listing[Project]:
    offset = (page.number - 1) * page.size
    if offset >= len(ids):
        return Listing([], page, len(ids))
    lists = lists_of(frozenset({"chosen"}), wanted.order_by, wanted.sort)
    query = lists.looked_up if len(ids) <= MOST_LOOKED_UP else lists.walking
    return Listing(_read_page(db, query, page, {"chosen": ids}), page, len(ids))


def _read_page(db: Connection, query: ListQuery, page: Page, values: dict[str, Any]) -> list[Project]:
    offset = (page.number - 1) * page.size
    ids = [row[0] for row in db.rows(query.by_number, page_size=page.size, page_offset=offset, **values)]
    found = {project.id: project for project in db.all(Project, _BY_NUMBERS, projects=ids)}
    # One may have gone in between, where a server's statements do not all see the same moment.
    return [found[project_id] for project_id in ids if project_id in found]


def _wanted_filters(actor: Actor, wanted: ListProjects, values: dict[str, Any]) -> set[str]:
    """The conditions that the parameters ask for; what they are bound to goes into ``values``."""
    filters = {name for name in ("with_issues_enabled", "with_merge_requests_enabled") if getattr(wanted, name)}
    if wanted.archived is not None:
        filters.add("archived" if wanted.archived else "unarchived")
    if wanted.visibility:
        filters.add("visibility")
        values["wanted_visibility"] = wanted.visibility
    if wanted.search:
        filters.add(_searching(wanted.search, values))
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


def _searching(text: str, values: dict[str, Any]) -> str:
    """The condition that a text is in the name or path; what it is bound to goes into ``values``."""
    if is_indexed(text):
        values["needle"] = needle(text)
        return "search"
    values["pattern"] = like_pattern(text)
    return "short_search"


def search_names(db: Connection, actor: Actor, text: str, wanted: ListProjects, page: Page) -> Listing[Project]:
    """A page of the projects with a text in their name."""
    if is_indexed(text):
        return list_projects(db, actor, wanted, page, "name", name_needle=needle(text))
    return list_projects(db, actor, wanted, page, "short_name", name_pattern=like_pattern(text))


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
