"""What callers send to find something."""

from typing import Literal

from ingot.core.api.params import Params


class SearchParams(Params):
    """A text, and what to leave out of what holds it; what does not concern a scope is passed over."""

    search: str
    state: Literal["opened", "closed", "locked", "merged", "all"] | None = None
    confidential: bool | None = None
    order_by: Literal["created_at"] = "created_at"
    sort: Literal["asc", "desc"] = "desc"


class SearchAnywhere(SearchParams, kw_only=True):
    """What is looked for everywhere; code is only looked for in a project."""

    scope: Literal["projects", "issues", "merge_requests", "milestones", "snippet_titles", "snippet_blobs", "users"]


class SearchGroup(SearchParams, kw_only=True):
    """What is looked for in a group and all below it."""

    scope: Literal["projects", "issues", "merge_requests", "milestones", "users"]


class SearchProject(SearchParams, kw_only=True):
    """What is looked for in a project; of its code, in a branch, a tag or a commit."""

    scope: Literal["issues", "merge_requests", "milestones", "notes", "wiki_blobs", "commits", "blobs", "users"]
    ref: str = ""
