"""Queries of labels, their priorities and their counts."""

from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, and_, bindparam, func, or_, select

from ingot.collaboration.labels.params import ListGroupLabels, ListLabels
from ingot.collaboration.labels.tables import Label, label_links, label_priorities, labels
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Level
from ingot.core.api.params import number_or_none
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import contains, in_list, like_pattern, one_of, without_index
from ingot.core.db.paging import Listing, ListQuery, Page, fetch_page, list_query
from ingot.core.db.totals import cached_rows, issues_of
from ingot.core.errors import NotFound
from ingot.projects.groups.policy import visible_groups
from ingot.projects.members.queries import MemberSource
from ingot.projects.namespaces.tables import namespace_tree, namespaces
from ingot.projects.projects.feature_access import has_open_planning, is_open_to_all
from ingot.projects.projects.policy import belongs_to_scanned_project, has_code, has_open_code, visible_projects
from ingot.projects.projects.tables import Project, projects

MAX_PRIORITIZED = 100
# A project's own labels, and those of its ancestor groups.
_ANCESTOR_GROUPS = select(namespace_tree.c.ancestor_id).where(namespace_tree.c.descendant_id == bindparam("namespace"))
_DESCENDANT_GROUPS = select(namespace_tree.c.descendant_id).where(namespace_tree.c.ancestor_id == bindparam("source"))
_IN_ANCESTOR_GROUPS = labels.c.group_id.in_(_ANCESTOR_GROUPS.scalar_subquery())
USABLE_LABELS = select(labels).where(or_(labels.c.project_id == bindparam("project"), _IN_ANCESTOR_GROUPS))
_BY_TITLES = USABLE_LABELS.where(in_list(labels.c.title, "titles"))
_BY_IDS = USABLE_LABELS.where(in_list(labels.c.id, "ids"))
# Labels usable in each of several projects; the project id precedes the label columns.
_ANCESTOR_GROUPS_OF_EACH = (
    select(namespace_tree.c.ancestor_id)
    .where(namespace_tree.c.descendant_id == projects.c.namespace_id)
    .correlate(projects)
    .scalar_subquery()
)
_USABLE_IN_EACH = projects.join(
    labels, or_(labels.c.project_id == projects.c.id, labels.c.group_id.in_(_ANCESTOR_GROUPS_OF_EACH))
)
_TITLED_OR_NUMBERED = (
    select(labels.c.id)
    .where(in_list(labels.c.title, "titles"))
    .union(select(labels.c.id).where(in_list(labels.c.id, "ids")))
)
_NAMED = (
    select(projects.c.id, *labels.c)
    .select_from(_USABLE_IN_EACH)
    .where(in_list(projects.c.id, "projects"), labels.c.id.in_(_TITLED_OR_NUMBERED.scalar_subquery()))
    # Of two labels with the same title, the project's own comes last, so that it wins in a mapping by title.
    .order_by(labels.c.project_id.is_not(None), labels.c.id)
)
_OF_SUBJECTS = (
    select(label_links.c.subject_id, *labels.c)
    .join(labels, labels.c.id == label_links.c.label_id)
    .where(label_links.c.subject_kind == bindparam("kind"), in_list(label_links.c.subject_id, "subjects"))
    .order_by(labels.c.title_key, labels.c.id)
)
_BY_ID = select(labels).where(labels.c.id == bindparam("label"))
_PROJECTS_BELOW = select(projects.c.id).where(projects.c.namespace_id.in_(_DESCENDANT_GROUPS.scalar_subquery()))
_SAME_TITLE_IN_DESCENDANTS = select(labels).where(
    labels.c.title == bindparam("title"), labels.c.project_id.in_(_PROJECTS_BELOW.scalar_subquery())
)
# Labels used in a project although their group is no longer an ancestor of it.
_OUTSIDE_LABELS = select(labels).where(
    labels.c.group_id.is_not(None),
    labels.c.group_id.not_in(_ANCESTOR_GROUPS.scalar_subquery()),
    or_(
        labels.c.id.in_(
            select(label_links.c.label_id).where(label_links.c.project_id == bindparam("project")).scalar_subquery()
        ),
        labels.c.id.in_(
            select(label_priorities.c.label_id)
            .where(label_priorities.c.project_id == bindparam("project"))
            .scalar_subquery()
        ),
    ),
)
_PRIORITIES = select(label_priorities.c.label_id, label_priorities.c.priority).where(
    label_priorities.c.project_id == bindparam("project"), in_list(label_priorities.c.label_id, "labels")
)
_PRIORITIZED = (
    select(*labels.c)
    .join(label_priorities, label_priorities.c.label_id == labels.c.id)
    .where(
        label_priorities.c.project_id == bindparam("project"),
        or_(labels.c.project_id == bindparam("project"), _IN_ANCESTOR_GROUPS),
    )
    .order_by(label_priorities.c.priority, labels.c.title_key, labels.c.id)
    .limit(bindparam("most"))
)


class LabelCounts(NamedTuple):
    """The numbers of issues and merge requests with a label."""

    open_issues: int = 0
    closed_issues: int = 0
    open_merge_requests: int = 0


class LabelCountScope(NamedTuple):
    """The records of a project that the caller can see and that are therefore counted."""

    project_id: int
    issues: bool
    confidential: bool
    merge_requests: bool


def usable_labels(db: Connection, project: Project, titles: Sequence[str]) -> dict[str, Label]:
    """Map titles to the labels usable in a project; its own labels win over those of ancestor groups."""
    candidates = db.all(Label, _BY_TITLES, project=project.id, namespace=project.namespace_id, titles=list(titles))
    return {label.title: label for label in sorted(candidates, key=lambda label: label.project_id is not None)}


def usable_labels_by_ids(db: Connection, project: Project, ids: Sequence[int]) -> list[Label]:
    """List the labels with these ids that are usable in a project; others are omitted."""
    return db.all(Label, _BY_IDS, project=project.id, namespace=project.namespace_id, ids=list(ids))


def usable_labels_in_projects(
    db: Connection, project_ids: Sequence[int], titles: Sequence[str], ids: Sequence[int]
) -> list[tuple[int, Label]]:
    """List the labels usable in any of these projects by title or id, each with the project id."""
    rows = db.rows(_NAMED, projects=list(project_ids), titles=list(titles), ids=list(ids))
    return [(project_id, Label(*columns)) for project_id, *columns in rows]


def labels_of(db: Connection, kind: str, subject_ids: Sequence[int]) -> dict[int, list[Label]]:
    """Map subject ids to their labels, ordered by title, with one statement for all."""
    labels_by_subject: defaultdict[int, list[Label]] = defaultdict(list)
    for subject_id, *columns in db.rows(_OF_SUBJECTS, kind=kind, subjects=list(subject_ids)):
        labels_by_subject[subject_id].append(Label(*columns))
    return labels_by_subject


def prioritized_labels(db: Connection, project: Project, most: int) -> list[Label]:
    """List the prioritized labels of a project, highest priority first."""
    return db.all(Label, _PRIORITIZED, project=project.id, namespace=project.namespace_id, most=most)


def outside_labels(db: Connection, project: Project) -> list[Label]:
    """List the labels used in a project that belong to groups that are no longer its ancestors."""
    return db.all(Label, _OUTSIDE_LABELS, project=project.id, namespace=project.namespace_id)


def label_by_id(db: Connection, label_id: int) -> Label:
    """Return a label by its id without a permission check; raise NotFound if there is none."""
    label = db.first(Label, _BY_ID, label=label_id)
    if label is None:
        raise NotFound("Label")
    return label


_OWN = {
    "project": labels.c.project_id == bindparam("source"),
    "group": labels.c.group_id == bindparam("source"),
}


def _of_groups_below(external: bool | None) -> ColumnElement[bool]:
    """Return the condition for labels of visible descendant groups; administrators see all."""
    below = select(namespaces.c.id).where(namespaces.c.id.in_(_DESCENDANT_GROUPS.scalar_subquery()))
    if external is not None:
        below = below.where(visible_groups(external))
    return labels.c.group_id.in_(below.scalar_subquery())


def _of_projects_in(deep: bool, external: bool | None) -> ColumnElement[bool]:
    """Return the condition for labels of visible projects in a group."""
    location = projects.c.namespace_id == bindparam("source")
    if deep:
        location = projects.c.namespace_id.in_(_DESCENDANT_GROUPS.scalar_subquery())
    visible = select(projects.c.id).where(
        location, or_(projects.c.issues_enabled.is_(True), projects.c.merge_requests_enabled.is_(True))
    )
    if external is not None:
        visible = visible.where(visible_projects(external=external, opened=has_open_planning()))
    return labels.c.project_id.in_(visible.scalar_subquery())


class _ListShape(NamedTuple):
    kind: str
    ancestors: bool
    descendants: bool = False
    of_projects: bool = False
    external: bool | None = None
    """Whether the caller is an external user; None if the query does not depend on the caller."""

    @property
    def depends_on_actor(self) -> bool:
        return self.external is not None


@lru_cache(maxsize=256)
def _visible_labels(shape: _ListShape) -> Select[Any]:
    parts = [_OWN[shape.kind]]
    if shape.ancestors:
        parts.append(_IN_ANCESTOR_GROUPS)
    if shape.descendants:
        parts.append(_of_groups_below(shape.external))
    if shape.of_projects:
        parts.append(_of_projects_in(shape.descendants, shape.external))
    return select(labels).where(or_(*parts))


@lru_cache(maxsize=256)
def _list_query(shape: _ListShape, searched: bool) -> ListQuery:
    matching = _visible_labels(shape)
    if searched:
        matching = matching.where(contains(labels.c.title_key, "pattern"))
    return list_query(matching, labels.c.id, labels.c.title_key.asc(), labels.c.id.asc())


@lru_cache(maxsize=256)
def _visible_label(shape: _ListShape, by: str) -> Select[Any]:
    # Of two labels with the same title, the project's own comes first.
    return (
        _visible_labels(shape)
        .where(labels.c[by] == bindparam("key"))
        .order_by(labels.c.project_id.is_(None), labels.c.id)
    )


def _shape_of(actor: Actor, source: MemberSource, params: ListLabels) -> _ListShape:
    shape = _ListShape(source.kind, params.include_ancestor_groups)
    if not isinstance(params, ListGroupLabels):
        return shape
    of_projects = not params.only_group_labels
    depends_on_caller = (params.include_descendant_groups or of_projects) and not actor.admin
    return shape._replace(
        descendants=params.include_descendant_groups,
        of_projects=of_projects,
        external=actor.external if depends_on_caller else None,
    )


def _bound(db: Connection, actor: Actor, source: MemberSource, shape: _ListShape) -> dict[str, Any]:
    values: dict[str, Any] = {"source": source.id}
    if shape.ancestors:
        values["namespace"] = source.namespace_id
    if shape.depends_on_actor:
        values |= {"actor": actor.user_id, "today": db.today}
    return values


def list_labels(db: Connection, actor: Actor, source: MemberSource, params: ListLabels, page: Page) -> Listing[Label]:
    """Return a page of the labels of a project or group, ordered by title."""
    shape = _shape_of(actor, source, params)
    values = _bound(db, actor, source, shape)
    if params.search:
        values["pattern"] = like_pattern(params.search)
    return fetch_page(db, Label, _list_query(shape, bool(params.search)), page, **values)


def label_or_none(db: Connection, source: MemberSource, name: str, *, own: bool = False) -> Label | None:
    """Return a label by id or title, or None; ancestor groups are searched unless ``own`` is set."""
    number = number_or_none(name)
    if number is not None:
        values = {"source": source.id} if own else {"source": source.id, "namespace": source.namespace_id}
        statement = _visible_label(_ListShape(source.kind, ancestors=not own), "id")
        label = db.first(Label, statement, key=number, **values)
        if label is not None:
            return label
    return label_by_title(db, source, name.strip(), own=own)


def find_label(db: Connection, source: MemberSource, name: str, *, own: bool = False) -> Label:
    """Return a label by id or title; raise NotFound if there is none."""
    label = label_or_none(db, source, name, own=own)
    if label is None:
        raise NotFound("Label")
    return label


def label_by_title(db: Connection, source: MemberSource, title: str, *, own: bool = False) -> Label | None:
    """Return a label by its exact title, or None; ancestor groups are searched unless ``own`` is set."""
    values = {"source": source.id} if own else {"source": source.id, "namespace": source.namespace_id}
    return db.first(Label, _visible_label(_ListShape(source.kind, ancestors=not own), "title"), key=title, **values)


def same_title_in_descendants(db: Connection, group_id: int, title: str) -> list[Label]:
    """List the labels with this title in all projects below a group."""
    return db.all(Label, _SAME_TITLE_IN_DESCENDANTS, source=group_id, title=title)


def priorities_of(db: Connection, project_id: int, label_ids: Sequence[int]) -> dict[int, int]:
    """Map label ids to their priorities in a project; labels without a priority are missing."""
    return dict(db.rows(_PRIORITIES, project=project_id, labels=list(label_ids)))


_LINKS = label_links.alias("links")
_COUNTED = (_LINKS.c.label_id, _LINKS.c.subject_kind, _LINKS.c.project_id, _LINKS.c.state, _LINKS.c.confidential)
_OF_PROJECT = (
    select(*_COUNTED, func.count())
    # Use the index on labels: a project may have a hundred times as many rows.
    .where(in_list(_LINKS.c.label_id, "labels"), without_index(_LINKS.c.project_id) == bindparam("project"))
    .group_by(*_COUNTED)
)
_BY_PROJECT = (
    select(*_COUNTED, func.count().label("total"))
    .where(in_list(_LINKS.c.label_id, "labels"))
    .group_by(*_COUNTED)
    .subquery()
)


@lru_cache(maxsize=256)
def _of_all_projects(external: bool | None) -> Select[Any]:
    """Count the visible records with each label in all projects; administrators see all."""
    counted = _BY_PROJECT.c
    member = belongs_to_scanned_project(Level.REPORTER)
    issues = and_(counted.subject_kind == "issue", projects.c.issues_enabled.is_(True))
    requests = and_(counted.subject_kind == "merge_request", projects.c.merge_requests_enabled.is_(True), has_code())
    if external is not None:
        opened = ("public",) if external else ("public", "internal")
        open_issues = or_(is_open_to_all("issues"), belongs_to_scanned_project())
        issues = and_(issues, or_(and_(counted.confidential.is_(False), open_issues), member))
        requests = and_(
            requests,
            or_(one_of(projects.c.visibility, *opened) & has_open_code() & is_open_to_all("merge_requests"), member),
        )
    statement = (
        select(counted.label_id, counted.subject_kind, counted.state, func.sum(counted.total))
        .join(projects, projects.c.id == counted.project_id)
        .where(projects.c.namespace_id.is_not(None), or_(issues, requests))
        .group_by(counted.label_id, counted.subject_kind, counted.state)
    )
    return statement if external is None else statement.where(visible_projects(external=external))


def label_counts_in_project(db: Connection, label_ids: Sequence[int], scope: LabelCountScope) -> dict[int, LabelCounts]:
    """Count the records with each label in a project, limited to those that the caller can see."""
    rows = [
        (label_id, kind, state, count)
        for label_id, kind, _, state, confidential, count in cached_rows(
            db, _OF_PROJECT, {"labels": list(label_ids), "project": scope.project_id}, [issues_of(scope.project_id)]
        )
        if (kind == "issue" and scope.issues and (scope.confidential or not confidential))
        or (kind == "merge_request" and scope.merge_requests)
    ]
    return _sum_counts(rows)


def label_counts_in_visible_projects(db: Connection, actor: Actor, label_ids: Sequence[int]) -> dict[int, LabelCounts]:
    """Count the records with each label in all projects that the caller can see."""
    if actor.admin:
        return _sum_counts(db.rows(_of_all_projects(None), labels=list(label_ids)))
    actor_values = {"actor": actor.user_id, "today": db.today}
    return _sum_counts(db.rows(_of_all_projects(actor.external), labels=list(label_ids), **actor_values))


def _sum_counts(rows: Sequence[tuple[Any, ...]]) -> dict[int, LabelCounts]:
    sums: defaultdict[int, LabelCounts] = defaultdict(LabelCounts)
    for label_id, kind, state, count in rows:
        name = {
            ("issue", "opened"): "open_issues",
            ("issue", "closed"): "closed_issues",
            ("merge_request", "opened"): "open_merge_requests",
        }.get((kind, state))
        if name is not None:
            sums[label_id] = sums[label_id]._replace(**{name: getattr(sums[label_id], name) + int(count)})
    return sums
