"""Creation of projects."""

from typing import Any

from ingot.accounts.appearance.records import current_appearance
from ingot.projects.projects import api as projects_api
from ingot.projects.projects.views import ProjectView
from ingot.repositories.commit_writing import api as commit_writing_api
from ingot.repositories.templates import api as templates_api
from ingot.web.form_errors import REQUEST_ERRORS, error_messages
from ingot.web.page_routes import (
    LocalRedirect,
    PageResponse,
    PageRoutes,
    TemplateResponse,
    Visit,
    form_field,
    text_field,
)
from ingot.web.projects.namespaces import find_typed_namespace, namespace_options, namespace_path
from ingot.web.texts import render_markdown

pages = PageRoutes()
_FIELDS = ("name", "path", "namespace_id", "description", "visibility", "import_url")
_NAMESPACE_FIELD = "namespace"
"""Path of the namespace, typed if there are too many to select from."""
_INITIAL_FILES = ("initialize_with_readme", "gitignore", "licence")
_TEMPLATES = {"gitignore": ("gitignores", ".gitignore"), "licence": ("licenses", "LICENSE")}


@pages.get("/projects/new")
def show_form(visit: Visit) -> PageResponse:
    """Show the form for a new project."""
    empty = dict.fromkeys((*_FIELDS, _NAMESPACE_FIELD, *_INITIAL_FILES), "")
    return _project_form(visit, empty | {"namespace_id": text_field(visit.request.query, "namespace_id")})


@pages.post("/projects", notice="Project created.")
def create_project(visit: Visit) -> PageResponse:
    """Create a project with its initial files and redirect to it; on errors show the form again."""
    typed = {
        name: form_field(visit.request.form, "project", name) for name in (*_FIELDS, _NAMESPACE_FIELD, *_INITIAL_FILES)
    }
    params = {name: typed[name] for name in (*_FIELDS, "initialize_with_readme") if typed[name]}
    try:
        if typed[_NAMESPACE_FIELD]:
            params["namespace_id"] = str(find_typed_namespace(visit, typed[_NAMESPACE_FIELD]).id)
        files = {} if typed["import_url"] else _template_files(visit, typed)
        project = visit.ask(projects_api.create_project, params)
    except REQUEST_ERRORS as error:
        return _project_form(visit, typed, error_messages(error), 422)
    if files:
        _commit_first_files(visit, project, files)
    return LocalRedirect(f"/{project.path_with_namespace}")


def _template_files(visit: Visit, typed: dict[str, str]) -> dict[str, str]:
    """Return the contents of the chosen templates, by file name."""
    files = {}
    if key := typed["gitignore"]:
        files[".gitignore"] = visit.ask(templates_api.get_gitignore, key=key).content
    if key := typed["licence"]:
        files["LICENSE"] = visit.ask(templates_api.get_license, {"project": typed["name"]}, key=key).content
    return files


def _commit_first_files(visit: Visit, project: ProjectView, files: dict[str, str]) -> None:
    """Commit the initial files; the project is kept without them if the user has no permission to push."""
    commit = {
        "branch": project.default_branch or visit.settings.default_branch,
        "commit_message": f"Add {' and '.join(files)}",
        "actions": [{"action": "create", "file_path": name, "content": content} for name, content in files.items()],
    }
    try:
        visit.ask(commit_writing_api.create_commit, commit, id=project.id)
    except REQUEST_ERRORS:
        pass


def _project_form(
    visit: Visit, typed: dict[str, Any], errors: list[str] | None = None, status: int = 200
) -> TemplateResponse:
    options = namespace_options(visit)
    if options.more and not typed[_NAMESPACE_FIELD]:
        typed = typed | {
            _NAMESPACE_FIELD: namespace_path(visit, typed["namespace_id"]) or visit.viewer.signed_in.username
        }
    context = {
        "typed": typed,
        "errors": errors or [],
        "options": options,
        "guidelines": render_markdown(visit, visit.database.read(current_appearance).new_project_guidelines),
        "gitignores": visit.ask(templates_api.list_gitignores, {"per_page": 100}).items,
        "licences": visit.ask(templates_api.list_licenses, {"per_page": 100}).items,
    }
    return TemplateResponse("projects/new.html", context, status)
