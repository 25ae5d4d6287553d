"""How labels are shown."""

from collections.abc import Sequence

from msgspec import UNSET, UnsetType

from ingot.collaboration.labels.colors import text_color
from ingot.collaboration.labels.queries import (
    LabelCounts,
    LabelCountScope,
    label_counts_in_project,
    label_counts_in_visible_projects,
    priorities_of,
)
from ingot.collaboration.labels.tables import Label
from ingot.collaboration.subscriptions.queries import explicit_subscriptions
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access, Level
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.projects.projects.policy import may_download_code
from ingot.projects.projects.tables import Project


class LabelBrief(View):
    """A label wherever one is only named."""

    id: int
    name: str
    color: str
    description: str | None
    text_color: str


class LabelView(LabelBrief):
    """A label; how it is ranked is said where a project is asked for it."""

    subscribed: bool
    open_issues_count: int | UnsetType = UNSET
    closed_issues_count: int | UnsetType = UNSET
    open_merge_requests_count: int | UnsetType = UNSET
    priority: int | UnsetType | None = UNSET
    is_project_label: bool | UnsetType = UNSET


def label_brief(label: Label) -> LabelBrief:
    """The label by itself."""
    return LabelBrief(label.id, label.title, label.color, label.description, text_color(label.color))


def project_label_views(
    db: Connection, actor: Actor, access: Access, project: Project, found: Sequence[Label], *, counts: bool = True
) -> list[LabelView]:
    """A page of a project's labels, counted within it; one statement for each relation."""
    numbers = [label.id for label in found]
    ranks = priorities_of(db, project.id, numbers)
    counted: dict[int, LabelCounts] | None = None
    if counts:
        reporter = access.level >= Level.REPORTER or actor.admin
        requests = project.merge_requests_enabled and may_download_code(actor, access, project)
        counted = label_counts_in_project(
            db, numbers, LabelCountScope(project.id, project.issues_enabled, reporter, requests)
        )
    views = _views(db, actor, found, counted)
    for label, view in zip(found, views, strict=True):
        view.priority = ranks.get(label.id)
        view.is_project_label = label.project_id is not None
    return views


def group_label_views(db: Connection, actor: Actor, found: Sequence[Label], *, counts: bool = True) -> list[LabelView]:
    """A page of a group's labels, counted in all projects that the caller may see."""
    numbers = [label.id for label in found]
    return _views(db, actor, found, label_counts_in_visible_projects(db, actor, numbers) if counts else None)


def _views(
    db: Connection, actor: Actor, found: Sequence[Label], counted: dict[int, LabelCounts] | None
) -> list[LabelView]:
    followed = explicit_subscriptions(db, actor.user_id, "label", [label.id for label in found])
    views = []
    for label in found:
        view = LabelView(
            label.id,
            label.title,
            label.color,
            label.description,
            text_color(label.color),
            followed.get(label.id, False),
        )
        if counted is not None:
            held = counted.get(label.id, LabelCounts())
            view.open_issues_count = held.open_issues
            view.closed_issues_count = held.closed_issues
            view.open_merge_requests_count = held.open_merge_requests
        views.append(view)
    return views
