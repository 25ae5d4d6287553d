"""Commits, diff versions and pipelines of a merge request."""

from typing import Any, NamedTuple

import msgspec

from ingot.ci.pipelines.summaries import pipeline_summaries
from ingot.collaboration.merge_requests.discussions import api as merge_request_discussions_api
from ingot.collaboration.merge_requests.merge import api as merge_api
from ingot.collaboration.merge_requests.reviews.viewed_files import viewed_digests
from ingot.collaboration.merge_requests.versions import api as versions_api
from ingot.collaboration.merge_requests.versions.views import PushedVersion, pushed_versions, version_diffs
from ingot.core.db.connection import Connection
from ingot.core.errors import NotFound
from ingot.repositories.commits import api as commits_api
from ingot.repositories.commits.signature_lists import commit_badges
from ingot.web.bidi import warns_of_characters
from ingot.web.ci.outcomes import pipeline_outcomes
from ingot.web.code.diff_tree import diff_tree
from ingot.web.code.diffs import DiffTarget, render_diff
from ingot.web.discussions.timeline import discussion_thread
from ingot.web.merge_requests.context import MergeRequestContext, merge_request_context
from ingot.web.merge_requests.line_discussions import LineSlot, drafts_outside, line_slots
from ingot.web.merge_requests.line_form import line_form
from ingot.web.merge_requests.review_drafts import review_drafts
from ingot.web.merge_requests.suggestions import appliable_count, may_apply_suggestions, with_suggestions
from ingot.web.page_routes import BytesResponse, LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit

pages = PageRoutes()
_MAX_VERSIONS = 100


class TypedComment(NamedTuple):
    """Comment on a line that was refused, so that the form shows it again."""

    at: str
    """Element id of the line."""
    start: str
    body: str


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
    repository = merge_request.parent.find(commits_api.list_commits).repository
    context = {
        "commits": commits,
        "outcomes": pipeline_outcomes(merge_request.parent, db, commits.items),
        "signatures": commit_badges(db, repository, [commit.id for commit in commits.items]),
    }
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
    """Show the diff; ``diff_id`` names a version, ``start_id`` one to compare with, ``w=1`` hides white space.

    ``at`` names a line to comment on, and ``from`` the first line if the comment is about several.
    """
    return changes_page(merge_request_context(visit), db)


@pages.get("/:path/-/merge_requests/:merge_request_iid/live", open=True)
def show_live_parts(visit: Visit) -> PageResponse:
    """Return the parts of the changes page that are updated live, without the diff, which takes longer.

    ``sha`` and ``notes`` are the head and the number of comments that the page shows.
    """
    merge_request = merge_request_context(visit)
    if not visit.headers.fragment:
        return LocalRedirect(f"{merge_request.url}/diffs")
    query, view = visit.request.query, merge_request.view
    news = {"pushed": query.get("sha") != view.sha, "commented": query.get("notes") != str(view.user_notes_count)}
    return TemplateResponse("merge_requests/_live.html", merge_request.shared_context("diffs") | news)


def changes_page(
    merge_request: MergeRequestContext,
    db: Connection,
    typed: TypedComment | None = None,
    errors: list[str] | None = None,
    status: int = 200,
) -> PageResponse:
    """Render the changes, with the errors and the text of a comment that was refused."""
    visit = merge_request.visit
    selected = _selected_versions(merge_request, db)
    if selected is None:
        return merge_request.page("merge_requests/diffs.html", "diffs", {"selected": None})
    query = {**visit.request.query, **({"at": typed.at, "from": typed.start} if typed else {})}
    items = version_diffs(db, merge_request.repository, selected.version, selected.since)
    thread = with_suggestions(merge_request, discussion_thread(merge_request.discussable))
    drafts = review_drafts(merge_request, thread)
    commentable = thread.may_write and selected.since is None and query.get("w") != "1"
    line = render_diff(items, {"first": str(len(items))}).line_at(query.get("at")) if commentable else None
    form = (
        line_form(selected.version, items, line, str(query.get("from", "")), typed.body if typed else "")
        if line
        else None
    )
    slots = line_slots(thread, drafts, selected.version) if selected.since is None else {}
    if line is not None and form is not None and not visit.headers.fragment:
        slots[line] = slots.get(line, LineSlot([], []))._replace(form=form)
    diff = render_diff(
        items,
        query,
        slots=slots,
        commentable="any" if commentable else "no",
        target=_diff_target(merge_request, selected),
        viewed=_viewed(merge_request, db),
    )
    back = f"{merge_request.url}/diffs{diff.split_address if diff.split else diff.unified_address}".removesuffix("?")
    context: dict[str, Any] = {
        "selected": selected,
        "diff": diff,
        "tree": diff_tree(diff.files) if len(diff.files) > 1 else [],
        "thread": thread,
        "drafts": drafts,
        "pending": drafts_outside(drafts, slots),
        "back": back,
        "form": form,
        "commentable": commentable,
        "may_mark": visit.viewer.user is not None and selected.newest,
        "appliable": appliable_count(thread) if may_apply_suggestions(merge_request) else 0,
        "approvals": None,
        "blob_url": f"{merge_request.parent.url}/-/blob/{selected.version.head_oid}",
        "errors": errors or [],
        "live_source": f"{merge_request.url}/live?sha={merge_request.view.sha}"
        f"&notes={merge_request.view.user_notes_count}",
    }
    if visit.headers.fragment and (form is not None or diff.part):
        template = "merge_requests/_line_form.html" if form is not None else "merge_requests/_diff_part.html"
        return TemplateResponse(template, {**context, "discussable": merge_request.discussable})
    if selected.newest and visit.viewer.user is not None:
        context["approvals"] = merge_request.discussable.ask(merge_request_discussions_api.get_approvals)
    return merge_request.page("merge_requests/diffs.html", "diffs", context, status)


def _diff_target(merge_request: MergeRequestContext, selected: SelectedVersions) -> DiffTarget:
    old = selected.since.head_oid if selected.since else selected.version.base_oid
    return DiffTarget(
        merge_request.parent.url,
        selected.version.head_oid,
        old or "",
        warns_of_characters(merge_request.parent.project),
    )


def _viewed(merge_request: MergeRequestContext, db: Connection) -> dict[str, str] | None:
    user = merge_request.visit.viewer.user
    return viewed_digests(db, merge_request.view.id, user.id) if user is not None else None


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
