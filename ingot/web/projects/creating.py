"""Making a project."""

from typing import Any

from ingot.db.connection import Connection
from ingot.projects.views import ProjectView
from ingot.web.pages import Page, Pages, Redirect, Reply, Visit, form_part, text_of
from ingot.web.projects.namespaces import offered_namespaces, path_of_namespace, typed_namespace
from ingot.web.refusals import Refusal, sentences

pages = Pages()
_FIELDS = ("name", "path", "namespace_id", "description", "visibility", "import_url")
_TYPED = "namespace"
"""Where it shall lie, by its path, where there are too many to choose from."""
_CHOICES = ("initialize_with_readme", "gitignore", "licence")
_TEMPLATES = {"gitignore": ("gitignores", ".gitignore"), "licence": ("licenses", "LICENSE")}


@pages.get("/projects/new")
def show_form(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """Ask what it shall be called."""
    nothing = dict.fromkeys((*_FIELDS, _TYPED, *_CHOICES), "")
    return _form(visit, nothing | {"namespace_id": text_of(visit.query, "namespace_id")})


@pages.post("/projects")
def create_project(visit: Visit) -> Reply:
    """Make it, with the files that it shall begin with, and lead to it; what was typed stays where it is refused."""
    typed = {name: form_part(visit.form, "project", name) for name in (*_FIELDS, _TYPED, *_CHOICES)}
    sent = {name: typed[name] for name in (*_FIELDS, "initialize_with_readme") if typed[name]}
    try:
        if typed[_TYPED]:
            sent["namespace_id"] = str(typed_namespace(visit, typed[_TYPED]).id)
        files = {} if typed["import_url"] else _files(visit, typed)
        project = visit.call("POST", "/projects", sent)
    except Refusal as refusal:
        return _form(visit, typed, sentences(refusal), 422)
    if files:
        _begin(visit, project, files)
    return Redirect(f"/{project.path_with_namespace}")


def _files(visit: Visit, typed: dict[str, str]) -> dict[str, str]:
    """What the chosen templates say, by the names of their files."""
    chosen = [(*_TEMPLATES[name], typed[name]) for name in _TEMPLATES if typed[name]]
    wanted = {"project": typed["name"]}
    return {
        file: visit.get(f"/templates/{kind}/:key", wanted if kind == "licenses" else {}, key=key).content
        for kind, file, key in chosen
    }


def _begin(visit: Visit, project: ProjectView, files: dict[str, str]) -> None:
    """Commit them where the visitor may; who may not push to a group's branches has the project all the same."""
    commit = {
        "branch": project.default_branch or visit.settings.default_branch,
        "commit_message": f"Add {' and '.join(files)}",
        "actions": [{"action": "create", "file_path": name, "content": content} for name, content in files.items()],
    }
    try:
        visit.call("POST", "/projects/:id/repository/commits", commit, id=project.id)
    except Refusal:
        pass


def _form(visit: Visit, typed: dict[str, Any], errors: list[str] | None = None, status: int = 200) -> Page:
    offered = offered_namespaces(visit)
    if offered.more and not typed[_TYPED]:
        typed = typed | {_TYPED: path_of_namespace(visit, typed["namespace_id"]) or visit.signed_in.username}
    context = {
        "typed": typed,
        "errors": errors or [],
        "offered": offered,
        "gitignores": visit.get("/templates/gitignores", {"per_page": 100}).items,
        "licences": visit.get("/templates/licenses", {"per_page": 100}).items,
    }
    return Page("projects/new.html", context, status)
