"""Lint page: validates the text of a CI file with the files and variables of the project."""

from typing import Any

from ingot.ci.lint import api as lint_api
from ingot.core.errors import NotFound
from ingot.repositories.lfs import api as lfs_api
from ingot.repositories.trees import api as trees_api
from ingot.web.ci.sections import ci_page
from ingot.web.form_errors import REQUEST_ERRORS, error_messages
from ingot.web.page_routes import PageResponse, PageRoutes, TemplateResponse, Visit, text_field
from ingot.web.projects.context import ProjectContext, project_context

pages = PageRoutes()
_MAX_BYTES = 512 * 1024


@pages.get("/:path/-/ci/lint")
def show_lint(visit: Visit) -> PageResponse:
    """Show the form, with the CI file of the default branch."""
    parent = project_context(visit)
    if not parent.may(lint_api.lint_project):
        raise NotFound("Page")
    return _page(parent, {"content": _committed_config(parent), "dry_run": False})


@pages.post("/:path/-/ci/lint")
def lint(visit: Visit) -> PageResponse:
    """Validate the submitted text and show the result."""
    parent = project_context(visit)
    typed = {
        "content": text_field(visit.request.form, "content"),
        "dry_run": text_field(visit.request.form, "dry_run") == "1",
    }
    try:
        result = parent.ask(lint_api.lint_project, {**typed, "include_jobs": True})
    except REQUEST_ERRORS as error:
        return _page(parent, typed, errors=error_messages(error))
    return _page(parent, typed, result)


def _committed_config(parent: ProjectContext) -> str:
    """Return the CI file of the default branch; empty if there is none."""
    path = parent.project.ci_config_path or ".gitlab-ci.yml"
    ref = parent.project.default_branch
    if ref is None or not parent.may(trees_api.list_tree):
        return ""
    try:
        content = parent.ask(lfs_api.get_raw_file, {"ref": ref}, file_path=path)
    except REQUEST_ERRORS:
        return ""
    data = content.body if content.body is not None else b"".join(content.pieces(0, min(content.size or 0, _MAX_BYTES)))
    return data.decode(errors="replace")


def _page(
    parent: ProjectContext, typed: dict[str, Any], result: Any = None, errors: list[str] | None = None
) -> TemplateResponse:
    context = {"typed": typed, "result": result, "errors": errors or []}
    return ci_page(parent, "ci/lint.html", "ci/lint", context, 422 if errors else 200)
