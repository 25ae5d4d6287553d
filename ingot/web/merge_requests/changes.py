"""Commits, diff versions and pipelines of a merge request."""

from typing import Any

import msgspec

from ingot.ci.pipelines.summaries import pipeline_summaries
from ingot.collaboration.merge_requests.merge import api as merge_api
from ingot.collaboration.merge_requests.versions import api as versions_api
from ingot.collaboration.merge_requests.versions.views import PushedVersion, pushed_versions, version_diffs
from ingot.core.db.connection import Connection
from ingot.errors import NotFound
from ingot.web.ci.outcomes import pipeline_outcomes
from ingot.web.code.diffs import DiffTarget, render_diff
from ingot.web.discussions.timeline import discussion_thread
from ingot.web.merge_requests.context import MergeRequestContext, merge_request_context
from ingot.web.merge_requests.line_discussions import discussions_by_line
from ingot.web.page_routes import BytesResponse, PageResponse, PageRoutes, TemplateResponse, Visit

pages = PageRoutes()
COMMENT_FORM = "form"
"""Slot value that marks the line below which the comment form is shown."""
_MAX_VERSIONS = 100


class SelectedVersions(msgspec.Struct, frozen=True):
    """Selected diff version, and the older version to compare it with, if any."""

    versions: list[PushedVersion]
    version: PushedVersion
    since: PushedVersion | None

    @property
    def newest(self) -> bool:
        """Return whether this is the complete diff of the newest version."""
        return self.since is None and self.version is self.versions[0]


@pages.get("/:path/-/merge_requests/:merge_request_iid/commits", open=True)
def show_commits(visit: Visit, db: Connection) -> PageResponse:
    """List the commits, newest first."""
    merge_request = merge_request_context(visit)
    commits = merge_request.discussable.ask(versions_api.list_commits, {"page": visit.request.page, "per_page": 50})
    context = {"commits": commits, "outcomes": pipeline_outcomes(merge_request.parent, db, commits.items)}
    return merge_request.page("merge_requests/commits.html", "commits", context)


@pages.get("/:path/-/merge_requests/:merge_request_iid/pipelines", open=True)
def show_pipelines(visit: Visit, db: Connection) -> PageResponse:
    """List the pipelines of the current and earlier heads."""
    merge_request = merge_request_context(visit)
    pipelines = merge_request.discussable.ask(merge_api.list_pipelines, {"page": visit.request.page, "per_page": 30})
    summaries = pipeline_summaries(db, [pipeline.id for pipeline in pipelines.items], visit.request.origin.base)
    context = {"pipelines": pipelines, "summaries": summaries}
    return merge_request.page("merge_requests/pipelines.html", "pipelines", context)


@pages.get("/:path/-/merge_requests/:merge_request_iid/raw_diffs", open=True)
def send_patch(visit: Visit) -> PageResponse:
    """Return the diff as one patch."""
    patch = merge_request_context(visit).discussable.ask(versions_api.get_raw_diffs)
    return BytesResponse(patch.body, patch.content_type)


@pages.get("/:path/-/merge_requests/:merge_request_iid/diffs", open=True)
def show_changes(visit: Visit, db: Connection) -> PageResponse:
    """Show the diff; ``at`` names a line to comment on, ``diff_id`` a version, ``start_id`` one to compare with."""
    merge_request = merge_request_context(visit)
    selected = _selected_versions(merge_request, db)
    if selected is None:
        return merge_request.page("merge_requests/diffs.html", "diffs", {"selected": None})
    items = version_diffs(merge_request.repository, selected.version, selected.since)
    thread = discussion_thread(merge_request.discussable)
    commentable = thread.may_write and selected.since is None
    slots: dict[Any, list[Any]] = dict(discussions_by_line(thread, selected.version)) if selected.since is None else {}
    line = (
        render_diff(items, {"first": str(len(items))}).line_at(visit.request.query.get("at")) if commentable else None
    )
    if line is not None and not visit.headers.fragment:
        slots[line] = [*slots.get(line, []), COMMENT_FORM]
    target = DiffTarget(merge_request.parent.url, selected.version.head_oid)
    diff = render_diff(
        items, visit.request.query, slots=slots, commentable="any" if commentable else "no", target=target
    )
    back = f"{merge_request.url}/diffs{diff.split_address if diff.split else diff.unified_address}".removesuffix("?")
    context: dict[str, Any] = {"selected": selected, "diff": diff, "thread": thread, "back": back, "at": None}
    if line is not None:
        context["at"] = _position(selected.version, line, {item.new_path: item.old_path for item in items})
    context["blob_url"] = f"{merge_request.parent.url}/-/blob/{selected.version.head_oid}"
    if visit.headers.fragment and (line is not None or diff.part):
        template = "merge_requests/_line_form.html" if line is not None else "merge_requests/_diff_part.html"
        return TemplateResponse(template, {**context, "discussable": merge_request.discussable})
    return merge_request.page("merge_requests/diffs.html", "diffs", context)


def _selected_versions(merge_request: MergeRequestContext, db: Connection) -> SelectedVersions | None:
    """Return the selected versions, or None shortly after creation, when there is no version yet."""
    versions = pushed_versions(db, merge_request.lookup.merge_request, _MAX_VERSIONS)
    if not versions:
        return None
    query = merge_request.visit.request.query
    version, since = _version_by_id(versions, query.get("diff_id")), _version_by_id(versions, query.get("start_id"))
    return SelectedVersions(versions, version or versions[0], since if since is not version else None)


def _version_by_id(versions: list[PushedVersion], version_id: Any) -> PushedVersion | None:
    if not version_id:
        return None
    selected = next((version for version in versions if str(version.id) == version_id), None)
    if selected is None:
        raise NotFound("Merge Request Diff")
    return selected


def _position(
    version: PushedVersion, line: tuple[str, int | None, int | None], old_paths: dict[str, str]
) -> dict[str, Any]:
    """Return the position of a line in the format of the API."""
    path, old, new = line
    position = {
        "base_sha": version.base_oid,
        "start_sha": version.start_oid,
        "head_sha": version.head_oid,
        "old_path": old_paths.get(path, path),
        "new_path": path,
        "old_line": old,
        "new_line": new,
    }
    return {name: value for name, value in position.items() if value is not None}
