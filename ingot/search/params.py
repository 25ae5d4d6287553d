"""Request parameters of searches."""

from typing import Literal

from ingot.core.api.params import Params


class SearchParams(Params):
    """Search text and filters; filters that do not apply to a scope are ignored."""

    search: str
    state: Literal["opened", "closed", "locked", "merged", "all"] | None = None
    confidential: bool | None = None
    order_by: Literal["created_at"] = "created_at"
    sort: Literal["asc", "desc"] = "desc"


class SearchAnywhere(SearchParams, kw_only=True):
    """Search in the instance; code can only be searched in a project."""

    scope: Literal["projects", "issues", "merge_requests", "milestones", "snippet_titles", "snippet_blobs", "users"]


class SearchGroup(SearchParams, kw_only=True):
    """Search in a group and its subgroups."""

    scope: Literal["projects", "issues", "merge_requests", "milestones", "users"]


class SearchProject(SearchParams, kw_only=True):
    """Search in a project; ``ref`` is the branch, tag or commit whose code is searched."""

    scope: Literal["issues", "merge_requests", "milestones", "notes", "wiki_blobs", "commits", "blobs", "users"]
    ref: str = ""
