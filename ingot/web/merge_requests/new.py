"""Creation of a merge request: choice of branches, comparison and form."""

from typing import Any
from urllib.parse import urlencode

import msgspec

from ingot.collaboration.issues import api as issues_api
from ingot.collaboration.merge_requests import api as merge_requests_api
from ingot.collaboration.merge_requests import policy
from ingot.core.api.routes import AlternateResponse
from ingot.core.db.connection import Connection
from ingot.core.errors import Failure, NotFound
from ingot.core.offload import require_blocking_allowed
from ingot.git.core.repository import Repository
from ingot.git.history.commits import branch_tip, commit_or_none
from ingot.git.maintenance.alternates import combined_repository
from ingot.projects.projects.api import repository_store
from ingot.projects.projects.queries import find_project
from ingot.projects.projects.views import ProjectView
from ingot.repositories.branches import api as branches_api
from ingot.repositories.commits.views import commit_view, diff_view
from ingot.repositories.comparisons.queries import Comparison, compare_refs
from ingot.repositories.diff_limits import diff_limits
from ingot.web.bidi import warns_of_characters
from ingot.web.code.diffs import DiffTarget, render_diff
from ingot.web.code.location import readable_code
from ingot.web.form_errors import ACTION_ERRORS, error_messages
from ingot.web.merge_requests.fields import api_params, branch_suggestions, form_choices, form_values
from ingot.web.merge_requests.project_choice import MergeRequestProjects, merge_request_projects
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit
from ingot.web.projects.context import ProjectContext
from ingot.web.projects.templates import list_templates, template_or_none

pages = PageRoutes()


class BranchComparison(msgspec.Struct, frozen=True):
    """Comparison of the source branch with the target branch."""

    commits: list[Any]
    more: bool
    diff: Any
    head: str


@pages.get("/:path/-/merge_requests/new")
def show_new_form(visit: Visit) -> PageResponse:
    """Show the choice of branches or, if the query names them, the comparison and the form."""
    sides, typed = merge_request_projects(visit), form_values(visit.request.query)
    if not typed["source_branch"] or "choose" in visit.request.query:
        return _branches_page(sides, typed)
    typed["target_branch"] = typed["target_branch"] or sides.target.project.default_branch or ""
    errors = _branch_error(sides, typed)
    if errors:
        return _branches_page(sides, typed, errors, status=200)
    return _new_request_page(sides, typed)


@pages.post("/:path/-/merge_requests", notice="Merge request created.")
def create_merge_request(visit: Visit) -> PageResponse:
    """Create a merge request and redirect to it; on an error show the form with the input."""
    typed = form_values(visit.request.form)
    sides = merge_request_projects(visit, typed)
    params = api_params(typed, may_triage=_may_triage(sides.target))
    params |= {name: typed[name] for name in ("source_branch", "target_branch")}
    params["target_project_id"] = sides.target.project.id
    try:
        created = sides.source.ask(merge_requests_api.create_merge_request, params)
    except ACTION_ERRORS as error:
        errors = error_messages(error)
    else:
        if not isinstance(created, AlternateResponse):
            return LocalRedirect(f"{sides.target.url}/-/merge_requests/{created.iid}")
        errors = [f"{reason.rstrip('.')}." for reason in created.content["message"]]
    if _branch_error(sides, typed):
        return _branches_page(sides, typed, errors)
    return visit.database.read(lambda _: _new_request_page(sides, typed, errors))


def _branch_error(sides: MergeRequestProjects, typed: dict[str, Any]) -> list[str]:
    """Return the reason why the branches cannot be compared."""
    if sides.source.project.id == sides.target.project.id and typed["source_branch"] == typed["target_branch"]:
        return ["Select two different branches."]
    return [
        f"There is no branch {typed[name]} in {parent.project.path_with_namespace}."
        for name, parent in (("source_branch", sides.source), ("target_branch", sides.target))
        if not _has_branch(parent, typed[name])
    ]


def _has_branch(parent: ProjectContext, branch: str) -> bool:
    try:
        parent.ask(branches_api.get_branch, branch=branch)
    except Failure:
        return False
    return True


def _branches_page(
    sides: MergeRequestProjects, typed: dict[str, Any], errors: list[str] | None = None, status: int = 422
) -> TemplateResponse:
    context = {
        "sides": sides,
        "typed": {**typed, "target_branch": typed["target_branch"] or sides.target.project.default_branch or ""},
        "source_branches": branch_suggestions(sides.source),
        "target_branches": branch_suggestions(sides.target),
        "errors": errors or [],
    }
    return sides.parent.page(
        "merge_requests/choose_branches.html", "merge_requests", context, status if errors else 200
    )


def _new_request_page(
    sides: MergeRequestProjects, typed: dict[str, Any], errors: list[str] | None = None
) -> TemplateResponse:
    comparison = _compare_branches(sides, typed)
    visit = sides.parent.visit
    blob_url = f"{sides.source.url}/-/blob/{comparison.head}"
    if visit.headers.fragment and comparison.diff.part:
        return TemplateResponse("code/_diff_part.html", {"diff": comparison.diff, "blob_url": blob_url})
    templates: list[str] = []
    if not errors:
        templates = list_templates(sides.target, "merge_request")
        if not typed["description"]:
            template = visit.request.query.get("issuable_template")
            typed = {**typed, "description": template_or_none(sides.target, "merge_request", templates, template)}
        typed = _with_default_text(sides, typed, comparison)
    may_triage, hidden_fields = _may_triage(sides.target), _hidden_fields(sides, typed)
    context: dict[str, Any] = {
        "sides": sides,
        "typed": typed,
        "comparison": comparison,
        "may_triage": may_triage,
        "squash_option": sides.target.project.squash_option,
        "blob_url": blob_url,
        "hidden_fields": hidden_fields,
        "templates": [(name, urlencode({**hidden_fields, "issuable_template": name})) for name in templates],
        "errors": errors or [],
    }
    context |= form_choices(sides.target) if may_triage else {}
    return sides.parent.page("merge_requests/new.html", "merge_requests", context, 422 if errors else 200)


def _compare_branches(sides: MergeRequestProjects, typed: dict[str, Any]) -> BranchComparison:
    """Compare the source branch with the target branch, which may be in different repositories."""
    source, target = readable_code(sides.source).repository, readable_code(sides.target).repository
    head, tip = branch_tip(source, typed["source_branch"]), branch_tip(target, typed["target_branch"])
    if head is None or tip is None:
        raise NotFound("Branch")
    comparison = _comparison(sides, source, target, tip, head)
    url = f"{sides.parent.visit.request.origin.base}{sides.source.url}"
    commits = [commit_view(commit, url) for commit in reversed(comparison.commits)]
    items = [diff_view(change) for change in comparison.diff.changes]
    diff = render_diff(
        items,
        sides.parent.visit.request.query,
        target=DiffTarget(sides.source.url, head, warns=warns_of_characters(sides.target.project)),
    )
    return BranchComparison(commits, comparison.more_commits, diff, head)


def _comparison(sides: MergeRequestProjects, source: Repository, target: Repository, tip: str, head: str) -> Comparison:
    limits = sides.parent.visit.database.read(diff_limits)
    if source.path == target.path or commit_or_none(source, tip) is not None:
        return compare_refs(source, tip, head, limits, straight=False)
    require_blocking_allowed()
    with combined_repository(repository_store(sides.parent.visit.settings), source, target) as both:
        return compare_refs(both, tip, head, limits, straight=False)


def _with_default_text(
    sides: MergeRequestProjects, typed: dict[str, Any], comparison: BranchComparison
) -> dict[str, Any]:
    """Fill in the default title and description, from the only commit or the branch name, and the options."""
    defaults, branch = dict(typed), typed["source_branch"]
    if not defaults["title"] and len(comparison.commits) == 1:
        (commit,) = comparison.commits
        defaults["title"] = commit.title
        defaults["description"] = defaults["description"] or commit.message.strip().partition("\n")[2].strip()
    if not defaults["title"]:
        words = branch.rpartition("/")[2].replace("-", " ").replace("_", " ").strip() or branch
        defaults["title"] = words[:1].upper() + words[1:]
    number = branch.rpartition("/")[2].partition("-")[0]
    if not defaults["description"] and number.isascii() and number.isdigit() and _has_issue(sides.target, number):
        defaults["description"] = f"Closes #{number}"
    defaults["remove_source_branch"] = sides.target.project.remove_source_branch_after_merge
    defaults["squash"] = sides.target.project.squash_option in ("always", "default_on")
    return defaults


def _has_issue(parent: ProjectContext, number: str) -> bool:
    try:
        parent.ask(issues_api.get_issue, issue_iid=number)
    except Failure:
        return False
    return True


def _may_triage(parent: ProjectContext) -> bool:
    visit = parent.visit

    def read(db: Connection) -> bool:
        access, project = find_project(db, visit.viewer.actor, parent.project.id)
        return policy.may_triage(visit.viewer.actor, access, project)

    return visit.database.read(read)


def _hidden_fields(sides: MergeRequestProjects, typed: dict[str, Any]) -> dict[str, str]:
    """Return the hidden fields of the form."""
    projects: dict[str, ProjectView] = {"source": sides.source.project, "target": sides.target.project}
    project_ids = {f"merge_request[{side}_project_id]": str(project.id) for side, project in projects.items()}
    return project_ids | {f"merge_request[{side}_branch]": typed[f"{side}_branch"] for side in projects}
