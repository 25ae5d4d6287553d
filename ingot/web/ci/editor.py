"""Pipeline editor: the CI file of a branch with its validation, the graph of its jobs and the merged configuration."""

import re
from base64 import b64encode
from typing import Any, NamedTuple
from urllib.parse import quote

import yaml

from ingot.ci.lint import api as lint_api
from ingot.ci.lint.views import LintedJobView, ProjectLintView
from ingot.core.errors import NotFound
from ingot.repositories.commit_writing import api as commit_writing_api
from ingot.web.ci.sections import ci_page
from ingot.web.code.branch_requests import request_address
from ingot.web.code.edit_context import FileDraft, encode_like, find_draft_at
from ingot.web.form_errors import REQUEST_ERRORS, error_messages
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit, text_field
from ingot.web.projects.context import ProjectContext, project_context

pages = PageRoutes()
_DEFAULT_PATH = ".gitlab-ci.yml"
_MAX_BYTES = 2**20
_TABS = {"edit": "Edit", "visualize": "Visualize", "lint": "Lint", "merged": "Full configuration"}
_FIELDS = ("content", "branch", "commit_message", "last_commit_id")
_STAGES = re.compile(r"^stages:\n((?:- .*\n)+)", re.MULTILINE)
_DEFAULT_STAGES = ("build", "test", "deploy")
_FIRST_FILE = """stages: [build, test]

compile:
  stage: build
  script:
    - echo "Compile the code"

unit:
  stage: test
  script:
    - echo "Run the tests"
"""


class LintStage(NamedTuple):
    """A stage with its jobs, in the order of the file."""

    name: str
    jobs: list[LintedJobView]


@pages.get("/:path/-/ci/editor")
def show_editor(visit: Visit) -> PageResponse:
    """Show the CI file of the branch ``branch_name``, by default the default branch."""
    parent = _parent(visit)
    draft = _draft(parent, text_field(visit.request.query, "branch_name"))
    if draft is None:
        return _page(parent, None, {}, None)
    text = _FIRST_FILE if draft.body is None else draft.text or ""
    typed = {"content": text, "branch": draft.proposed, "last_commit_id": draft.last_commit_id}
    return _checked(parent, draft, typed)


@pages.post("/:path/-/ci/editor", notice="File committed.", limit=_MAX_BYTES)
def submit_editor(visit: Visit) -> PageResponse:
    """Validate the submitted text, or commit it if the button for that was used."""
    parent, form = _parent(visit), visit.request.form
    draft = _draft(parent, text_field(form, "base"))
    if draft is None:
        raise NotFound("File")
    typed: dict[str, Any] = {name: text_field(form, name) for name in _FIELDS}
    typed["start_merge_request"] = "start_merge_request" in form
    return _commit(parent, draft, typed) if "commit" in form else _checked(parent, draft, typed)


def _parent(visit: Visit) -> ProjectContext:
    """Return the project; users who may not push to it do not see the page."""
    parent = project_context(visit)
    if not parent.may(lint_api.lint_project):
        raise NotFound("Page")
    return parent


def _draft(parent: ProjectContext, branch: str) -> FileDraft | None:
    """Return the CI file of a branch; None if the configuration is not a file of the project."""
    path = parent.project.ci_config_path or _DEFAULT_PATH
    if "@" in path or "://" in path:
        return None
    draft = find_draft_at(parent, f"{branch or parent.project.default_branch or 'main'}/{path}", needs_file=False)
    if not draft.exists:
        return draft._replace(branch=branch or parent.project.default_branch or "main", path=path)
    if draft.write_access == "no_branch" or draft.path != path:
        raise NotFound("Branch")
    return draft


def _checked(
    parent: ProjectContext, draft: FileDraft, typed: dict[str, Any], errors: list[str] | None = None
) -> TemplateResponse:
    """Render the page with the result of the validation."""
    ref = draft.branch if draft.exists else None
    try:
        result = parent.ask(lint_api.lint_project, {"content": typed["content"], "ref": ref, "include_jobs": True})
    except NotFound:  # The project or the branch was deleted meanwhile.
        raise
    except REQUEST_ERRORS as error:
        return _page(parent, draft, typed, None, [*(errors or []), *error_messages(error)])
    return _page(parent, draft, typed, result, errors)


def _commit(parent: ProjectContext, draft: FileDraft, typed: dict[str, Any]) -> PageResponse:
    """Commit the text; another branch begins at the edited one, and a merge request follows if it was asked for."""
    branch = typed["branch"].strip() or draft.branch
    content = encode_like(draft.body or b"", typed["content"])
    action = {
        "action": "create" if draft.body is None else "update",
        "file_path": draft.path,
        "content": b64encode(content).decode(),
        "encoding": "base64",
    }
    if draft.body is not None:
        action["last_commit_id"] = typed["last_commit_id"]
    message = typed["commit_message"].strip() or f"Update {draft.path}"
    params: dict[str, Any] = {"branch": branch, "commit_message": message, "actions": [action]}
    if branch != draft.branch and draft.exists:
        params["start_branch"] = draft.branch
    try:
        parent.ask(commit_writing_api.create_commit, params)
    except REQUEST_ERRORS as error:
        return _checked(parent, draft, typed, error_messages(error))
    if branch != draft.branch and typed["start_merge_request"]:
        return LocalRedirect(request_address(parent, branch, draft.branch))
    return LocalRedirect(f"{parent.url}/-/ci/editor?branch_name={quote(branch, safe='')}")


def _page(
    parent: ProjectContext,
    draft: FileDraft | None,
    typed: dict[str, Any],
    result: ProjectLintView | None,
    errors: list[str] | None = None,
) -> TemplateResponse:
    form = parent.visit.request.form
    tab = text_field(form, "tab") or text_field(form, "open_tab")
    context = {
        "draft": draft,
        "typed": {"commit_message": "", "start_merge_request": False, **typed},
        "result": result,
        "stages": [] if result is None or not result.valid else _stages(result),
        "editor_tabs": _TABS,
        "editor_tab": tab if tab in _TABS else "edit",
        "errors": errors or [],
    }
    return ci_page(parent, "ci/editor.html", "ci/editor", context, 422 if errors else 200)


def _stages(result: ProjectLintView) -> list[LintStage]:
    """Return the stages that have jobs, in their order."""
    match = _STAGES.search(result.merged_yaml or "")
    names: list[Any] = yaml.safe_load(match[1]) if match else [*_DEFAULT_STAGES]
    jobs = result.jobs or []
    order = dict.fromkeys([".pre", *(str(name) for name in names if name not in (".pre", ".post"))])
    order |= dict.fromkeys(job.stage for job in jobs if job.stage != ".post") | {".post": None}
    stages = [LintStage(name, [job for job in jobs if job.stage == name]) for name in order]
    return [stage for stage in stages if stage.jobs]
