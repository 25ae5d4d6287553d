"""Response structs of labels."""

from collections.abc import Sequence

from msgspec import UNSET, UnsetType

from ingot.collaboration.labels.colors import text_color
from ingot.collaboration.labels.queries import (
    MAX_PRIORITIZED,
    LabelCounts,
    LabelCountScope,
    label_counts_in_project,
    label_counts_in_visible_projects,
    labels_of,
    priorities_of,
    prioritized_labels,
)
from ingot.collaboration.labels.tables import Label
from ingot.collaboration.subscriptions.queries import explicit_subscriptions
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access, Level
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.projects.projects.feature_access import may_use_feature
from ingot.projects.projects.policy import may_download_code
from ingot.projects.projects.tables import Project


class LabelBrief(View):
    """A label inside another record."""

    id: int
    name: str
    color: str
    description: str | None
    text_color: str


class LabelView(LabelBrief):
    """A label with its counts; ``priority`` is set only in the context of a project."""

    subscribed: bool
    open_issues_count: int | UnsetType = UNSET
    closed_issues_count: int | UnsetType = UNSET
    open_merge_requests_count: int | UnsetType = UNSET
    priority: int | UnsetType | None = UNSET
    is_project_label: bool | UnsetType = UNSET


def label_briefs_of(db: Connection, kind: str, subject_ids: Sequence[int]) -> dict[int, list[LabelBrief]]:
    """Return the labels of several issues or merge requests, by id; one statement for all."""
    carried = labels_of(db, kind, subject_ids)
    return {number: [label_brief(label) for label in labels] for number, labels in carried.items()}


def label_brief(label: Label) -> LabelBrief:
    """Build the brief view of a label."""
    return LabelBrief(label.id, label.title, label.color, label.description, text_color(label.color))


def project_label_views(
    db: Connection, actor: Actor, access: Access, project: Project, labels: Sequence[Label], *, counts: bool = True
) -> list[LabelView]:
    """Build the views of a page of a project's labels with counts in it; one statement per relation."""
    label_ids = [label.id for label in labels]
    priorities = priorities_of(db, project.id, label_ids)
    counted: dict[int, LabelCounts] | None = None
    if counts:
        counts_issues = may_use_feature(actor, access, project, "issues")
        counts_confidential = access.level >= Level.REPORTER or actor.admin
        counts_merge_requests = may_use_feature(actor, access, project, "merge_requests") and may_download_code(
            actor, access, project
        )
        counted = label_counts_in_project(
            db,
            label_ids,
            LabelCountScope(project.id, counts_issues, counts_confidential, counts_merge_requests),
        )
    views = _views(db, actor, labels, counted)
    for label, view in zip(labels, views, strict=True):
        view.priority = priorities.get(label.id)
        view.is_project_label = label.project_id is not None
    return views


def group_label_views(db: Connection, actor: Actor, labels: Sequence[Label], *, counts: bool = True) -> list[LabelView]:
    """Build the views of a page of a group's labels, with counts in all projects that the caller can see."""
    label_ids = [label.id for label in labels]
    return _views(db, actor, labels, label_counts_in_visible_projects(db, actor, label_ids) if counts else None)


def _views(
    db: Connection, actor: Actor, labels: Sequence[Label], counted: dict[int, LabelCounts] | None
) -> list[LabelView]:
    subscribed = explicit_subscriptions(db, actor.user_id, "label", [label.id for label in labels])
    views = []
    for label in labels:
        view = LabelView(
            label.id,
            label.title,
            label.color,
            label.description,
            text_color(label.color),
            subscribed.get(label.id, False),
        )
        if counted is not None:
            label_counts = counted.get(label.id, LabelCounts())
            view.open_issues_count = label_counts.open_issues
            view.closed_issues_count = label_counts.closed_issues
            view.open_merge_requests_count = label_counts.open_merge_requests
        views.append(view)
    return views


def prioritized_label_views(db: Connection, actor: Actor, access: Access, project: Project) -> list[LabelView]:
    """Return the labels that a project ranks, the most important first."""
    ranked = prioritized_labels(db, project, MAX_PRIORITIZED)
    return project_label_views(db, actor, access, project, ranked) if ranked else []
