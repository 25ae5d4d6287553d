"""Filters and sort orders of issue lists."""

from ingot.web.filters import ListFilterOptions

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
