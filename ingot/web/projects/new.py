"""Making a project."""

from typing import Any

from ingot.core.db.connection import Connection
from ingot.projects.projects.views import ProjectView
from ingot.web.form_errors import RequestRefusal, error_messages
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

pages = PageRoutes()
_FIELDS = ("name", "path", "namespace_id", "description", "visibility", "import_url")
_TEXT_FIELDS = "namespace"
"""Where it shall lie, by its path, where there are too many to choose from."""
_CHOICES = ("initialize_with_readme", "gitignore", "licence")
_TEMPLATES = {"gitignore": ("gitignores", ".gitignore"), "licence": ("licenses", "LICENSE")}


@pages.get("/projects/new")
def show_form(visit: Visit, db: Connection) -> PageResponse:  # noqa: ARG001 - Every page to read gets a connection.
    """Ask what it shall be called."""
    nothing = dict.fromkeys((*_FIELDS, _TEXT_FIELDS, *_CHOICES), "")
    return _project_form(visit, nothing | {"namespace_id": text_field(visit.query, "namespace_id")})


@pages.post("/projects")
def create_project(visit: Visit) -> PageResponse:
    """Make it, with the files that it shall begin with, and lead to it; what was typed stays where it is refused."""
    typed = {name: form_field(visit.form, "project", name) for name in (*_FIELDS, _TEXT_FIELDS, *_CHOICES)}
    sent = {name: typed[name] for name in (*_FIELDS, "initialize_with_readme") if typed[name]}
    try:
        if typed[_TEXT_FIELDS]:
            sent["namespace_id"] = str(find_typed_namespace(visit, typed[_TEXT_FIELDS]).id)
        files = {} if typed["import_url"] else _template_files(visit, typed)
        project = visit.call("POST", "/projects", sent)
    except RequestRefusal as refusal:
        return _project_form(visit, typed, error_messages(refusal), 422)
    if files:
        _commit_first_files(visit, project, files)
    return LocalRedirect(f"/{project.path_with_namespace}")


def _template_files(visit: Visit, typed: dict[str, str]) -> dict[str, str]:
    """What the chosen templates say, by the names of their files."""
    chosen = [(*_TEMPLATES[name], typed[name]) for name in _TEMPLATES if typed[name]]
    wanted = {"project": typed["name"]}
    return {
        file: visit.get(f"/templates/{kind}/:key", wanted if kind == "licenses" else {}, key=key).content
        for kind, file, key in chosen
    }


def _commit_first_files(visit: Visit, project: ProjectView, files: dict[str, str]) -> None:
    """Commit them where the visitor may; who may not push to a group's branches has the project all the same."""
    commit = {
        "branch": project.default_branch or visit.settings.default_branch,
        "commit_message": f"Add {' and '.join(files)}",
        "actions": [{"action": "create", "file_path": name, "content": content} for name, content in files.items()],
    }
    try:
        visit.call("POST", "/projects/:id/repository/commits", commit, id=project.id)
    except RequestRefusal:
        pass


def _project_form(
    visit: Visit, typed: dict[str, Any], errors: list[str] | None = None, status: int = 200
) -> TemplateResponse:
    offered = namespace_options(visit)
    if offered.more and not typed[_TEXT_FIELDS]:
        typed = typed | {_TEXT_FIELDS: namespace_path(visit, typed["namespace_id"]) or visit.signed_in.username}
    context = {
        "typed": typed,
        "errors": errors or [],
        "offered": offered,
        "gitignores": visit.get("/templates/gitignores", {"per_page": 100}).items,
        "licences": visit.get("/templates/licenses", {"per_page": 100}).items,
    }
    return TemplateResponse("projects/new.html", context, status)
