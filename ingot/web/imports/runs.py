"""Imports of the current user: list, progress and report."""

from typing import Any

from ingot.core.api.params import path_number
from ingot.core.db.connection import Connection
from ingot.import_export.runs import api as imports_api
from ingot.import_export.runs.report import report_of
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit

pages = PageRoutes()
MAX_SHOWN_DIFFERENCES = 100


@pages.get("/import")
def show_imports(visit: Visit) -> PageResponse:
    """List the imports."""
    listing = visit.ask(imports_api.list_imports, {"page": visit.request.page})
    return TemplateResponse("imports/index.html", {"listing": listing, "runs": listing.items})


@pages.get("/import/:id")
def show_import(visit: Visit, db: Connection) -> PageResponse:
    """Show the progress of an import, and its report."""
    run = visit.find(imports_api.get_import, import_id=path_number(visit.request.path, "id"))
    report = report_of(db, run)
    entities = visit.ask(imports_api.list_entities, {"sort": "asc", "per_page": 100}, import_id=run.id).items
    context: dict[str, Any] = {
        "run": run,
        "pairs": list(zip(entities, report.entities, strict=False)),
        "ended": run.status not in ("created", "started"),
        "limit": MAX_SHOWN_DIFFERENCES,
    }
    return TemplateResponse("imports/show.html", context)


@pages.post("/import/:id/cancel", notice="Import canceled.")
def cancel_import(visit: Visit) -> PageResponse:
    """Cancel an import; what was imported stays."""
    number = path_number(visit.request.path, "id")
    visit.ask(imports_api.cancel_import, import_id=number)
    return LocalRedirect(f"/import/{number}")
