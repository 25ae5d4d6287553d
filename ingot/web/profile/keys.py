"""A user's SSH and GPG keys."""

from typing import Any

from ingot.accounts.keys import api as keys_api
from ingot.accounts.keys.views import gpg_keys_of_user, keys_of_user
from ingot.core.api.params import path_number
from ingot.core.db.connection import Connection
from ingot.web.form_errors import REQUEST_ERRORS, error_messages
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit, form_field

pages = PageRoutes()


@pages.get("/profile/keys")
def show_keys(visit: Visit, db: Connection) -> PageResponse:
    """List the SSH keys and show the form to add one."""
    return _keys_page(visit, db)


@pages.post("/profile/keys", notice="SSH key added.")
def add_key(visit: Visit) -> PageResponse:
    """Add an SSH key; the default title is the key's comment."""
    typed = {name: form_field(visit.request.form, "key", name).strip() for name in ("key", "title", "expires_at")}
    comment = typed["key"].split(maxsplit=2)[2:]
    params: dict[str, Any] = {"key": typed["key"], "title": typed["title"] or "".join(comment) or "SSH key"}
    if typed["expires_at"]:
        params["expires_at"] = typed["expires_at"]
    try:
        visit.ask(keys_api.create_key, params)
    except REQUEST_ERRORS as error:
        errors = error_messages(error)
        return visit.database.read(lambda db: _keys_page(visit, db, typed, errors))
    return LocalRedirect("/profile/keys")


@pages.delete("/profile/keys/:id", notice="SSH key removed.")
def remove_key(visit: Visit) -> PageResponse:
    """Remove an SSH key."""
    visit.ask(keys_api.delete_key, key_id=path_number(visit.request.path, "id"))
    return LocalRedirect("/profile/keys")


@pages.get("/profile/gpg_keys")
def show_gpg_keys(visit: Visit, db: Connection) -> PageResponse:
    """List the GPG keys and show the form to add one."""
    return _gpg_page(visit, db)


@pages.post("/profile/gpg_keys", notice="GPG key added.")
def add_gpg_key(visit: Visit) -> PageResponse:
    """Add a GPG key."""
    typed = form_field(visit.request.form, "gpg_key", "key").strip()
    try:
        visit.ask(keys_api.create_gpg_key, {"key": typed})
    except REQUEST_ERRORS as error:
        errors = error_messages(error)
        return visit.database.read(lambda db: _gpg_page(visit, db, typed, errors))
    return LocalRedirect("/profile/gpg_keys")


@pages.delete("/profile/gpg_keys/:id", notice="GPG key removed.")
def remove_gpg_key(visit: Visit) -> PageResponse:
    """Remove a GPG key."""
    visit.ask(keys_api.delete_gpg_key, key_id=path_number(visit.request.path, "id"))
    return LocalRedirect("/profile/gpg_keys")


def _keys_page(
    visit: Visit, db: Connection, typed: dict[str, str] | None = None, errors: list[str] | None = None
) -> TemplateResponse:
    keys = keys_of_user(db, visit.viewer.signed_in.id)
    empty = {"key": "", "title": "", "expires_at": ""}
    context = {"tab": "keys", "keys": keys, "now": db.now, "typed": typed or empty, "errors": errors or []}
    return TemplateResponse("profile/keys.html", context, 422 if errors else 200)


def _gpg_page(visit: Visit, db: Connection, typed: str = "", errors: list[str] | None = None) -> TemplateResponse:
    keys = gpg_keys_of_user(db, visit.viewer.signed_in.id)
    context = {"tab": "gpg_keys", "keys": keys, "typed": typed, "errors": errors or []}
    return TemplateResponse("profile/gpg_keys.html", context, 422 if errors else 200)
