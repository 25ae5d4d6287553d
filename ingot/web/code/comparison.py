"""Comparison of two branches, tags or commits."""

from typing import Any
from urllib.parse import quote

from ingot.collaboration.merge_requests import api as merge_requests_api
from ingot.collaboration.merge_requests.views import SimpleMergeRequestView
from ingot.core.db.connection import Connection
from ingot.core.errors import NotFound
from ingot.repositories import browser
from ingot.repositories.comparisons import api as comparisons_api
from ingot.web.bidi import warns_of_characters
from ingot.web.ci.outcomes import PipelineOutcome, pipeline_outcomes
from ingot.web.code.branch_requests import open_requests
from ingot.web.code.diffs import DiffTarget, render_diff
from ingot.web.code.location import readable_code
from ingot.web.form_errors import REQUEST_ERRORS, error_messages
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit
from ingot.web.projects.context import ProjectContext, project_context

pages = PageRoutes()


@pages.get("/:path/-/compare", open=True)
def show_form(visit: Visit) -> PageResponse:
    """Show the comparison form, or redirect to the URL of the comparison that was requested."""
    parent = project_context(visit)
    readable_code(parent)
    old, new = (str(visit.request.query.get(name, "")).strip() for name in ("from", "to"))
    if old and new:
        straight = visit.request.query.get("straight") in ("true", "1")
        return LocalRedirect(f"{parent.url}/-/compare/{quote(old)}{'..' if straight else '...'}{quote(new)}")
    return _comparison_page(parent, old or parent.project.default_branch or "", new)


@pages.get("/:path/-/compare/:rest", open=True, slashes="rest")
def show_comparison(visit: Visit, db: Connection) -> PageResponse:
    """Show the commits and the diff: ``old...new`` from the merge base, or ``old..new`` between the two directly."""
    parent = project_context(visit)
    code = readable_code(parent)
    rest = visit.request.path["rest"]
    dots = "..." if "..." in rest else ".."
    old, separator, new = rest.partition(dots)
    if not separator:
        old, new = parent.project.default_branch or "", rest
    straight = dots == ".." and bool(separator)
    params = {"from": old, "to": new, "straight": "true" if straight else "false"}
    try:
        compared = parent.ask(comparisons_api.compare_refs, params)
    except NotFound:
        return _comparison_page(
            parent, old, new, errors=["Branch, tag or commit not found. Check both names."], status=404
        )
    except REQUEST_ERRORS as error:
        return _comparison_page(parent, old, new, errors=error_messages(error), status=422)
    head = browser.commit_or_none(code.repository, new)
    base = browser.comparison_base(code.repository, old, new, straight=straight)
    warns = warns_of_characters(parent.project)
    target = DiffTarget(parent.url, head, base, warns=warns) if head else None
    diff = render_diff(compared.diffs, visit.request.query, target=target)
    if visit.headers.fragment and diff.part:
        return TemplateResponse("code/_diff_part.html", {"diff": diff, "blob_url": _blob_url(parent, new)})
    outcomes = pipeline_outcomes(parent, db, compared.commits)
    request = open_requests(parent, db, [new]).get(new)
    return _comparison_page(
        parent, old, new, straight=straight, compared=compared, diff=diff, outcomes=outcomes, request=request
    )


def _comparison_page(
    parent: ProjectContext,
    old: str,
    new: str,
    *,
    straight: bool = False,
    compared: Any = None,
    diff: Any = None,
    outcomes: dict[str, PipelineOutcome] | None = None,
    request: SimpleMergeRequestView | None = None,
    errors: list[str] | None = None,
    status: int = 200,
) -> TemplateResponse:
    context = {
        "old": old,
        "new": new,
        "straight": straight,
        "compared": compared,
        "diff": diff,
        "outcomes": outcomes or {},
        "request": request,
        "errors": errors or [],
        "blob_url": _blob_url(parent, new),
        "may_merge": bool(compared and compared.commits) and parent.may(merge_requests_api.create_merge_request),
    }
    return parent.page("code/compare.html", "code", context, status)


def _blob_url(parent: ProjectContext, ref: str) -> str:
    return f"{parent.url}/-/blob/{quote(ref)}"
