"""Calls that changed something, made with the access tokens of the current user."""

from ingot.accounts.tokens import api as tokens_api
from ingot.core.api.params import path_number
from ingot.web.page_routes import PageResponse, PageRoutes, TemplateResponse, Visit

pages = PageRoutes()
_TEMPLATE = "profile/token_activity.html"


@pages.get("/profile/token_activity")
def show_activity(visit: Visit) -> PageResponse:
    """List the calls made with all tokens, also by authorized applications."""
    listing = visit.ask(tokens_api.list_own_audit_events, page_params(visit))
    return TemplateResponse(_TEMPLATE, {"tab": "tokens", "name": "", "listing": listing})


@pages.get("/profile/personal_access_tokens/:id/activity")
def show_activity_of_token(visit: Visit) -> PageResponse:
    """List the calls made with one personal access token."""
    number = path_number(visit.request.path, "id")
    token = visit.ask(tokens_api.get_personal_access_token, id=number)
    listing = visit.ask(tokens_api.list_token_audit_events, page_params(visit), id=number)
    return TemplateResponse(_TEMPLATE, {"tab": "tokens", "name": token.name, "listing": listing})


def page_params(visit: Visit) -> dict[str, object]:
    """Return the parameters of a list of calls."""
    return {"page": visit.request.query.get("page", "1"), "per_page": 50}
