"""Filters and sort orders of issue lists and boards."""

from typing import Any

from ingot.collaboration.labels import api as labels_api
from ingot.collaboration.milestones import api as milestones_api
from ingot.web.filters import ListFilterOptions
from ingot.web.issues.group_context import ProjectOrGroupContext
from ingot.web.projects.context import ProjectContext

ISSUE_FILTERS = ListFilterOptions(
    states={"opened": "Open", "closed": "Closed", "all": "All"},
    sorts={
        "created_desc": ("Newest first", "created_at", "desc"),
        "created_asc": ("Oldest first", "created_at", "asc"),
        "updated_desc": ("Last updated", "updated_at", "desc"),
        "due_date_asc": ("Due date", "due_date", "asc"),
        "milestone_due": ("Milestone due date", "milestone_due", "asc"),
        "priority": ("Priority", "priority", "asc"),
        "popularity": ("Popularity", "popularity", "desc"),
    },
    texts={
        "search": "search",
        "milestone_title": "milestone",
        "author_username": "author_username",
        "assignee_username": "assignee_username",
        "confidential": "confidential",
        "due_date": "due_date",
    },
)
BOARD_FILTERS = ListFilterOptions(
    states={"opened": "Open"},
    sorts={"position": ("Position", "relative_position", "asc")},
    texts={
        "search": "search",
        "milestone_title": "milestone",
        "author_username": "author_username",
        "assignee_username": "assignee_username",
    },
)


def filter_choices(parent: ProjectOrGroupContext) -> dict[str, Any]:
    """Return the labels and milestones that can be chosen as filters."""
    ancestors = "include_parent_milestones" if isinstance(parent, ProjectContext) else "include_ancestors"
    return {
        "labels": parent.ask(
            parent.either(labels_api.list_project_labels, labels_api.list_group_labels),
            {"per_page": 100, "with_counts": "false"},
        ).items,
        "milestones": parent.ask(
            parent.either(milestones_api.list_project_milestones, milestones_api.list_group_milestones),
            {"per_page": 100, "state": "active", ancestors: "true"},
        ).items,
    }
