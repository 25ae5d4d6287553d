"""Objects that many rows refer to, loaded together: users, projects, groups, labels, and texts as HTML."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from ingot.accounts.users.queries import users_by_ids
from ingot.accounts.users.views import UserView, user_view
from ingot.collaboration.issues.hierarchy import visible_issues
from ingot.collaboration.issues.views import IssueView, issue_views
from ingot.collaboration.labels.views import LabelBrief, label_briefs_of
from ingot.collaboration.markdown.service import render_texts
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Page
from ingot.core.errors import NotFound
from ingot.core.markup.links import LinkContext
from ingot.core.markup.renderer import MAX_LENGTH
from ingot.graphql.context import QueryContext
from ingot.projects.groups.params import ListGroups
from ingot.projects.groups.queries import find_group, list_groups
from ingot.projects.groups.views import GroupView, group_view
from ingot.projects.projects.api import repository_store
from ingot.projects.projects.queries import paths_of_projects, projects_by_ids, visible_projects_by_path
from ingot.projects.projects.views import ProjectView, instance_urls, project_views


def load_users(context: QueryContext, user_ids: Iterable[int]) -> Mapping[int, UserView | None]:
    """Return the public profiles of users; anonymous callers see none."""
    if not context.actor.known:
        return dict.fromkeys(user_ids)
    base = context.origin.base

    def fetch(missing: Collection[int]) -> dict[int, UserView]:
        return {
            number: user_view(user, base) for number, user in context.read(lambda db: users_by_ids(db, missing)).items()
        }

    return context.load("users", user_ids, fetch)


def load_projects(context: QueryContext, project_ids: Iterable[int]) -> Mapping[int, ProjectView | None]:
    """Return the projects that the caller may see."""

    def fetch(missing: Collection[int]) -> dict[int, ProjectView]:
        return {view.id: view for view in context.read(lambda db: _project_views(context, db, missing))}

    return context.load("projects", project_ids, fetch)


def _project_views(context: QueryContext, db: Connection, project_ids: Collection[int]) -> list[ProjectView]:
    paths = paths_of_projects(db, sorted(project_ids))
    visible = visible_projects_by_path(db, context.actor, paths.values())
    records = [lookup.project for lookup in visible.values()]
    return project_views(db, context.actor, records, instance_urls(db, context.origin, context.settings))


def load_groups(context: QueryContext, group_ids: Iterable[int]) -> Mapping[int, GroupView | None]:
    """Return the groups that the caller may see."""

    def fetch(missing: Collection[int]) -> dict[int, GroupView]:
        params, page = ListGroups(all_available=True), Page(size=len(missing))
        groups = context.read(lambda db: list_groups(db, context.actor, params, page, among=sorted(missing))).items
        visible = groups if not context.actor.bot else [group for group in groups if _is_visible(context, group.id)]
        return {group.id: group_view(group, context.origin.base) for group in visible}

    return context.load("groups", group_ids, fetch)


def _is_visible(context: QueryContext, group_id: int) -> bool:
    """Return whether a bot may see a group; public groups to which it does not belong are in lists only."""
    try:
        context.read(lambda db: find_group(db, context.actor, group_id))
    except NotFound:
        return False
    return True


def load_labels(context: QueryContext, kind: str, subject_ids: Sequence[int]) -> Mapping[int, list[LabelBrief] | None]:
    """Return the labels of issues or merge requests."""
    return context.load(
        f"labels of {kind}",
        subject_ids,
        lambda missing: context.read(lambda db: label_briefs_of(db, kind, list(missing))),
    )


def load_issues(context: QueryContext, issue_ids: Iterable[int]) -> Mapping[int, IssueView | None]:
    """Return the issues that the caller may see."""

    def fetch(missing: Collection[int]) -> dict[int, IssueView]:
        def read(db: Connection) -> list[IssueView]:
            return issue_views(db, context.actor, visible_issues(db, context.actor, missing), context.origin.base)

        return {view.id: view for view in context.read(read)}

    return context.load("issues", issue_ids, fetch)


def render_html(
    context: QueryContext,
    parents: Sequence[Any],
    text_of: Callable[[Any], str | None],
    project_of: Callable[[Any], int | None],
    *,
    positions: bool = True,
) -> list[str | None]:
    """Return the texts of objects as HTML, as ``POST /markdown`` does; those of one project are rendered together."""
    by_project: dict[int | None, dict[str, str]] = {}
    for parent in parents:
        text = text_of(parent)
        if text and len(text) <= MAX_LENGTH:
            by_project.setdefault(project_of(parent), {})[text] = ""
    records = context.read(lambda db: projects_by_ids(db, sorted(each for each in by_project if each is not None)))
    for project_id, texts in by_project.items():
        project = records.get(project_id) if project_id is not None else None
        path = project.full_path if project else None
        link_context = LinkContext(context.origin.base, path, positions=positions)
        store = repository_store(context.settings)
        html = render_texts(
            context.database, store, context.actor, link_context, project, list(texts), context.render_budget
        )
        by_project[project_id] = dict(zip(texts, html, strict=True))
    return [
        by_project.get(project_of(parent), {}).get(text, "") if (text := text_of(parent)) is not None else None
        for parent in parents
    ]


def render_line_html(
    context: QueryContext,
    parents: Sequence[Any],
    text_of: Callable[[Any], str | None],
    project_of: Callable[[Any], int | None],
) -> list[str | None]:
    """Return texts of one line as HTML, without a paragraph around them."""
    rendered = render_html(context, parents, text_of, project_of, positions=False)
    return [html and html.strip().removeprefix("<p>").removesuffix("</p>") for html in rendered]
