"""Filters and sort orders of merge request lists."""

from ingot.web.filters import ListFilterOptions

MERGE_REQUEST_FILTERS = ListFilterOptions(
    states={"opened": "Open", "merged": "Merged", "closed": "Closed", "all": "All"},
    sorts={
        "created_desc": ("Newest first", "created_at", "desc"),
        "created_asc": ("Oldest first", "created_at", "asc"),
        "updated_desc": ("Last updated", "updated_at", "desc"),
        "merged_desc": ("Last merged", "merged_at", "desc"),
        "milestone_due": ("Milestone due date", "milestone_due", "asc"),
        "priority": ("Priority", "priority", "asc"),
        "popularity": ("Popularity", "popularity", "desc"),
    },
    texts={
        "search": "search",
        "milestone_title": "milestone",
        "author_username": "author_username",
        "assignee_username": "assignee_username",
        "source_branch": "source_branch",
        "target_branch": "target_branch",
    },
)
