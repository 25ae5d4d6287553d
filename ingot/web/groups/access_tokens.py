"""Access tokens of projects and groups; a new token is shown once."""

from collections.abc import Callable
from typing import Any

from msgspec import UNSET

from ingot.core.access.levels import Level
from ingot.core.api.params import path_number
from ingot.projects.access_tokens import api as access_tokens_api
from ingot.projects.access_tokens.service import RESOURCE_SCOPES
from ingot.web.form_errors import REQUEST_ERRORS, error_messages
from ingot.web.groups.settings_parent import find_group_settings, settings_page
from ingot.web.issues.group_context import ProjectOrGroupContext
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit
from ingot.web.profile.token_activity import page_params
from ingot.web.projects.context import ProjectContext
from ingot.web.projects.forms import FormsState, form_list, form_values, nonempty_values
from ingot.web.projects.settings import find_project_settings
from ingot.web.scope_labels import offered_scopes

pages = PageRoutes()
ROLES = {
    Level.GUEST: "Guest",
    Level.REPORTER: "Reporter",
    Level.DEVELOPER: "Developer",
    Level.MASTER: "Maintainer",
    Level.OWNER: "Owner",
}
_FIELDS = ("name", "description", "expires_at", "access_level")


def _declare_pages(prefix: str, find_parent: Callable[[Visit], ProjectOrGroupContext]) -> None:
    """Declare the pages of the access tokens of projects or of groups."""

    def acting(work: Callable[[ProjectOrGroupContext], PageResponse]) -> Callable[[Visit], PageResponse]:
        return lambda visit: work(find_parent(visit))

    pages.get(prefix)(lambda visit: _tokens_page(find_parent(visit), FormsState()))
    pages.post(prefix)(acting(_create))
    pages.get(f"{prefix}/:token/activity")(acting(_activity_page))
    pages.post(f"{prefix}/:token/rotate")(acting(_rotate))
    pages.delete(f"{prefix}/:token", notice="Token revoked.")(acting(_revoke))


def _create(parent: ProjectOrGroupContext) -> PageResponse:
    typed = form_values(parent.visit, "access_token", _FIELDS)
    typed["scopes"] = form_list(parent.visit, "access_token", "scopes")
    return _show_secret(parent, "token", typed, access_tokens_api.create_access_token, nonempty_values(typed))


def _rotate(parent: ProjectOrGroupContext) -> PageResponse:
    endpoint = access_tokens_api.rotate_access_token
    return _show_secret(parent, "tokens", {}, endpoint, {}, token_id=parent.visit.request.path["token"])


def _revoke(parent: ProjectOrGroupContext) -> PageResponse:
    try:
        parent.ask(access_tokens_api.revoke_access_token, token_id=parent.visit.request.path["token"])
    except REQUEST_ERRORS as error:
        return _tokens_page(parent, FormsState("tokens", {}, error_messages(error)))
    return LocalRedirect(f"{parent.url}/-/settings/access_tokens")


def _show_secret(
    parent: ProjectOrGroupContext,
    form: str,
    typed: dict[str, Any],
    endpoint: Callable[..., Any],
    params: dict[str, Any],
    **path: object,
) -> PageResponse:
    """Call an endpoint that returns a new token, and show the token."""
    try:
        created = parent.ask(endpoint, params, **path)
    except REQUEST_ERRORS as error:
        return _tokens_page(parent, FormsState(form, typed, error_messages(error)))
    return _tokens_page(parent, FormsState(), "" if created.token is UNSET else created.token)


def _activity_page(parent: ProjectOrGroupContext) -> PageResponse:
    """List the calls made with one token."""
    number = path_number(parent.visit.request.path, "token")
    events = access_tokens_api.list_access_token_audit_events
    listing = parent.ask(events, page_params(parent.visit), token_id=number)
    context = {"name": "", "listing": listing}
    return settings_page(parent, "groups/token_activity.html", "settings/access_tokens", context)


def _tokens_page(parent: ProjectOrGroupContext, forms: FormsState, secret: str = "") -> TemplateResponse:
    every = {"per_page": 100}
    tokens = access_tokens_api.list_access_tokens
    context: dict[str, Any] = {
        "forms": forms,
        "secret": secret,
        "active": parent.ask(tokens, every | {"state": "active"}).items,
        "inactive": parent.ask(tokens, every | {"state": "inactive"}).items,
        "scopes": offered_scopes(RESOURCE_SCOPES),
        "roles": ROLES,
        "place": "project" if isinstance(parent, ProjectContext) else "group",
        "may_change": parent.may(access_tokens_api.create_access_token),
    }
    return settings_page(parent, "groups/access_tokens.html", "settings/access_tokens", context, forms.status)


_declare_pages("/:path/-/settings/access_tokens", find_project_settings)
_declare_pages("/groups/:path/-/settings/access_tokens", find_group_settings)
