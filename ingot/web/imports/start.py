"""Start of an import: the source, then its plan, then the import itself."""

import csv
from typing import Any

from ingot.import_export.runs import api as imports_api
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
from ingot.web.projects.namespaces import namespace_options

pages = PageRoutes()
FIELDS = ("source_type", "url", "access_token", "path", "group", "namespace", "slug", "users")
SERVERS = {"gitlab": "GitLab or Ingot", "github": "GitHub", "gitea": "Gitea or Forgejo"}
_ADDRESSES = {"gitlab": "https://gitlab.com", "github": "https://github.com", "gitea": ""}
_PAIR = 2


@pages.get("/import/new")
def show_import_form(visit: Visit) -> PageResponse:
    """Show the sources, and the form of the chosen one."""
    kind = text_field(visit.request.query, "source")
    typed = dict.fromkeys(FIELDS, "") | {"source_type": kind, "url": _ADDRESSES.get(kind, "")}
    return _form(visit, typed | {"namespace": visit.viewer.signed_in.username})


@pages.post("/import/plan")
def plan_import(visit: Visit) -> PageResponse:
    """Show what the source contains; nothing is stored."""
    typed = _typed(visit)
    try:
        plan = visit.ask(imports_api.plan_import, _params(typed))
    except REQUEST_ERRORS as error:
        return _form(visit, typed, error_messages(error))
    return TemplateResponse("imports/plan.html", {"typed": typed, "plan": plan, "server": SERVERS[plan.source_type]})


@pages.post("/import", notice="Import started.")
def start_import(visit: Visit) -> PageResponse:
    """Start the import and redirect to its progress."""
    typed = _typed(visit)
    try:
        run = visit.ask(imports_api.start_import, _params(typed))
    except REQUEST_ERRORS as error:
        return _form(visit, typed, error_messages(error))
    return LocalRedirect(f"/import/{run.id}")


def _typed(visit: Visit) -> dict[str, str]:
    return {name: form_field(visit.request.form, "import", name) for name in FIELDS}


def _params(typed: dict[str, str]) -> dict[str, Any]:
    entity = {
        "source_type": "group_entity" if typed["group"] else "project_entity",
        "source_full_path": typed["path"].strip().strip("/"),
        "destination_namespace": typed["namespace"],
    }
    if typed["slug"]:
        entity["destination_slug"] = typed["slug"]
    source = {name: typed[name].strip() for name in ("source_type", "url", "access_token")}
    rows = [[cell.strip() for cell in row] for row in csv.reader(typed["users"].splitlines())]
    users = {row[0]: row[1] for row in rows if len(row) == _PAIR and all(row)}
    return {"configuration": source, "entities": [entity], "user_mapping": users}


def _form(visit: Visit, typed: dict[str, str], errors: list[str] | None = None) -> TemplateResponse:
    context = {
        "typed": typed,
        "errors": errors or [],
        "servers": SERVERS,
        "options": namespace_options(visit),
    }
    return TemplateResponse("imports/new.html", context, 422 if errors else 200)
