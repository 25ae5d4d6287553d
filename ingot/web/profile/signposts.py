"""The addresses at which clients and guides know one's own pages: they print them, or open them in the browser."""

from ingot.db.connection import Connection
from ingot.errors import NotFound
from ingot.web.pages import Pages, Redirect, Reply, Visit
from ingot.web.saying import with_query

pages = Pages()
_SETTINGS = {
    "profile": "/profile",
    "personal_access_tokens": "/profile/personal_access_tokens",
    "applications": "/profile/applications",
    "ssh_keys": "/profile/keys",
    "gpg_keys": "/profile/gpg_keys",
    "active_sessions": "/profile/active_sessions",
    "authentication_log": "/profile/audit_log",
    "password/edit": "/profile/password/edit",
}
_OLDER = (
    "account",
    "active_sessions",
    "applications",
    "audit_log",
    "emails",
    "gpg_keys",
    "keys",
    "notifications",
    "password/edit",
    "personal_access_tokens",
    "preferences",
    "two_factor_auth",
)
_PROFILE = {name: f"/profile/{name}" for name in _OLDER}


@pages.get("/-/user_settings/:rest", open=True, slashes="rest")
def lead_to_settings(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - All pages to read take the same two.
    """Where glab, editors and later guides look for tokens and keys."""
    return _led(visit, _SETTINGS)


@pages.get("/-/profile", open=True)
def lead_to_profile(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - All pages to read take the same two.
    """One's own pages, as they were called in between."""
    return Redirect("/profile")


@pages.get("/-/profile/:rest", open=True, slashes="rest")
def lead_to_profile_page(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - All pages to read take the same two.
    """The same for one of them."""
    return _led(visit, _PROFILE)


def _led(visit: Visit, known: dict[str, str]) -> Redirect:
    address = known.get(visit.path["rest"])
    if address is None:
        raise NotFound
    return Redirect(address + with_query(visit.query) if visit.query else address)
