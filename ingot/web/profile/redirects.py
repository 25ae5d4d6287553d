"""Redirects from GitLab's URLs of the profile pages, which clients and guides link to."""

from ingot.core.db.connection import Connection
from ingot.core.errors import NotFound
from ingot.web.formats import with_query
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, Visit

pages = PageRoutes()
_SETTINGS_PATHS = {
    "profile": "/profile",
    "personal_access_tokens": "/profile/personal_access_tokens",
    "applications": "/profile/applications",
    "ssh_keys": "/profile/keys",
    "gpg_keys": "/profile/gpg_keys",
    "active_sessions": "/profile/active_sessions",
    "authentication_log": "/profile/audit_log",
    "password/edit": "/profile/password/edit",
}
_LEGACY_PATHS = (
    "account",
    "active_sessions",
    "applications",
    "audit_log",
    "chat_names",
    "emails",
    "gpg_keys",
    "keys",
    "notifications",
    "password/edit",
    "personal_access_tokens",
    "preferences",
    "two_factor_auth",
)
_PROFILE_PATHS = {name: f"/profile/{name}" for name in _LEGACY_PATHS}


@pages.get("/-/user_settings/:rest", open=True, slashes="rest")
def redirect_to_settings(visit: Visit, db: Connection) -> PageResponse:  # noqa: ARG001 - All pages to read take the same two.
    """Redirect GitLab's current URLs (``/-/user_settings/…``), which glab and editors open."""
    return _redirect(visit, _SETTINGS_PATHS)


@pages.get("/-/profile", open=True)
def redirect_to_profile(visit: Visit, db: Connection) -> PageResponse:  # noqa: ARG001 - All pages to read take the same two.
    """Redirect ``/-/profile``, the URL of earlier GitLab versions."""
    return LocalRedirect("/profile")


@pages.get("/-/profile/:rest", open=True, slashes="rest")
def redirect_to_profile_page(visit: Visit, db: Connection) -> PageResponse:  # noqa: ARG001 - All pages to read take the same two.
    """Redirect the pages below ``/-/profile``."""
    return _redirect(visit, _PROFILE_PATHS)


def _redirect(visit: Visit, paths: dict[str, str]) -> LocalRedirect:
    address = paths.get(visit.request.path["rest"])
    if address is None:
        raise NotFound
    return LocalRedirect(address + with_query(visit.request.query) if visit.request.query else address)
