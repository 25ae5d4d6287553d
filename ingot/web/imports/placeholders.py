"""Placeholder users of imports: their assignment to real users."""

from ingot.core.api.params import path_number
from ingot.import_export.placeholders import api as placeholders_api
from ingot.web.form_errors import REQUEST_ERRORS, error_messages
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit, form_field

pages = PageRoutes()
PAGE_PATH = "/import/users"


@pages.get("/import/users")
def show_placeholders(visit: Visit) -> PageResponse:
    """List the placeholder users that the user manages or may take over."""
    return _page(visit)


@pages.post("/import/users/:id/assign", notice="Placeholder user assigned, or proposed to the user.")
def assign_placeholder(visit: Visit) -> PageResponse:
    """Assign a placeholder user."""
    username = form_field(visit.request.form, "placeholder", "username").strip().removeprefix("@")
    number = path_number(visit.request.path, "id")
    try:
        visit.ask(placeholders_api.assign_placeholder, {"username": username}, source_user_id=number)
    except REQUEST_ERRORS as error:
        return _page(visit, error_messages(error))
    return LocalRedirect(PAGE_PATH)


@pages.post("/import/users/:id/accept", notice="Contributions taken over.")
def accept_placeholder(visit: Visit) -> PageResponse:
    """Take over the contributions of a placeholder user."""
    number = path_number(visit.request.path, "id")
    try:
        visit.ask(placeholders_api.accept_placeholder, source_user_id=number)
    except REQUEST_ERRORS as error:
        return _page(visit, error_messages(error))
    return LocalRedirect(PAGE_PATH)


@pages.post("/import/users/:id/reject", notice="Proposal rejected.")
def reject_placeholder(visit: Visit) -> PageResponse:
    """Refuse the contributions of a placeholder user."""
    number = path_number(visit.request.path, "id")
    try:
        visit.ask(placeholders_api.reject_placeholder, source_user_id=number)
    except REQUEST_ERRORS as error:
        return _page(visit, error_messages(error))
    return LocalRedirect(PAGE_PATH)


def _page(visit: Visit, errors: list[str] | None = None) -> TemplateResponse:
    listing = visit.ask(placeholders_api.list_placeholder_users, {"page": visit.request.page, "per_page": 50})
    context = {
        "listing": listing,
        "people": listing.items,
        "me": visit.viewer.signed_in,
        "errors": errors or [],
    }
    return TemplateResponse("imports/users.html", context, 422 if errors else 200)
