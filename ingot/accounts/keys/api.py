"""Endpoints of SSH and GPG keys."""

from ingot.accounts.keys import queries, service
from ingot.accounts.keys.params import CreateGpgKey, CreateKey, FindKey
from ingot.accounts.keys.ports import KeyProjects
from ingot.accounts.keys.ssh_format import parse_fingerprint
from ingot.accounts.keys.tables import GpgKey, SshKey
from ingot.accounts.keys.views import GpgKeyView, KeyView, KeyWithUserView, gpg_key_view, key_view, key_with_user_view
from ingot.accounts.users.api import caller_id, owned_item_finder, user_id_in_path
from ingot.core.access.rules import administrators, signed_in
from ingot.core.access.scopes import READ_USER_SCOPES
from ingot.core.api.params import path_number
from ingot.core.api.routes import Call, Routes
from ingot.core.db.paging import Listing, Page

routes = Routes("users")

_own_key = owned_item_finder(caller_id, "key_id", queries.find_key_of_user)
_own_key_or_none = owned_item_finder(caller_id, "key_id", queries.key_of_user_or_none)
_key_of_user = owned_item_finder(user_id_in_path, "key_id", queries.find_key_of_user)
_own_gpg_key = owned_item_finder(caller_id, "key_id", queries.find_gpg_key_of_user)
_own_gpg_key_or_none = owned_item_finder(caller_id, "key_id", queries.gpg_key_of_user_or_none)
_gpg_key_of_user = owned_item_finder(user_id_in_path, "key_id", queries.find_gpg_key_of_user)
_gpg_key_of_user_or_none = owned_item_finder(user_id_in_path, "key_id", queries.gpg_key_of_user_or_none)


@routes.get("/users/:id/keys", on=user_id_in_path, may=administrators, returns=list[KeyView], scopes=READ_USER_SCOPES)
@routes.get("/user/keys", on=caller_id, may=signed_in, returns=list[KeyView], scopes=READ_USER_SCOPES)
def list_keys(call: Call, user_id: int, page: Page) -> Listing[KeyView]:
    """List the SSH keys of the caller or of a user."""
    listing = queries.list_keys(call.db, user_id, page)
    return listing.of([key_view(key) for key in listing.items])


@routes.get("/users/:id/keys/:key_id", on=_key_of_user, may=administrators, returns=KeyView, scopes=READ_USER_SCOPES)
@routes.get("/user/keys/:key_id", on=_own_key, may=signed_in, returns=KeyView, scopes=READ_USER_SCOPES)
def get_key_of_user(call: Call, key: SshKey) -> KeyView:  # noqa: ARG001 - All handlers take the call.
    """Get an SSH key of the caller or of a user."""
    return key_view(key)


@routes.post("/users/:id/keys", on=user_id_in_path, may=administrators, returns=KeyView)
@routes.post("/user/keys", on=caller_id, may=signed_in, returns=KeyView)
def create_key(call: Call, user_id: int, params: CreateKey) -> KeyView:
    """Add an SSH key to the caller or to a user."""
    return key_view(service.create_key(call.db, user_id, params))


# A missing key is a 404 for administrators, but not an error for the caller's own keys.
@routes.delete("/users/:id/keys/:key_id", on=_key_of_user, may=administrators, returns=None)
@routes.delete("/user/keys/:key_id", on=_own_key_or_none, may=signed_in, returns=None)
def delete_key(call: Call, key: SshKey | None) -> None:
    """Delete an SSH key of the caller or of a user."""
    if key is not None:
        service.delete_key(call.db, key)


@routes.get("/keys", may=administrators, returns=KeyWithUserView)
def find_key(call: Call, params: FindKey) -> KeyWithUserView:
    """Get an SSH key and its user by the key's fingerprint."""
    return _key_with_user(call, queries.find_key_by_fingerprint(call.db, parse_fingerprint(params.fingerprint)))


@routes.get("/keys/:id", may=administrators, returns=KeyWithUserView)
def get_key(call: Call) -> KeyWithUserView:
    """Get an SSH key and its user."""
    return _key_with_user(call, queries.find_key(call.db, path_number(call.path, "id")))


def _key_with_user(call: Call, key: SshKey) -> KeyWithUserView:
    projects = call.db.ports[KeyProjects].list_projects(call.db, key.id)
    return key_with_user_view(call.db, key, projects, call.origin.base)


# Readable for all signed-in users, who need the keys to verify signatures.
@routes.get("/users/:id/gpg_keys", on=user_id_in_path, may=signed_in, returns=list[GpgKeyView], scopes=READ_USER_SCOPES)
@routes.get("/user/gpg_keys", on=caller_id, may=signed_in, returns=list[GpgKeyView], scopes=READ_USER_SCOPES)
def list_gpg_keys(call: Call, user_id: int, page: Page) -> Listing[GpgKeyView]:
    """List the GPG keys of the caller or of a user."""
    listing = queries.list_gpg_keys(call.db, user_id, page)
    return listing.of([gpg_key_view(key) for key in listing.items])


@routes.get(
    "/users/:id/gpg_keys/:key_id", on=_gpg_key_of_user, may=signed_in, returns=GpgKeyView, scopes=READ_USER_SCOPES
)
@routes.get("/user/gpg_keys/:key_id", on=_own_gpg_key, may=signed_in, returns=GpgKeyView, scopes=READ_USER_SCOPES)
def get_gpg_key(call: Call, key: GpgKey) -> GpgKeyView:  # noqa: ARG001 - All handlers take the call.
    """Get a GPG key of the caller or of a user."""
    return gpg_key_view(key)


@routes.post("/users/:id/gpg_keys", on=user_id_in_path, may=administrators, returns=GpgKeyView)
@routes.post("/user/gpg_keys", on=caller_id, may=signed_in, returns=GpgKeyView)
def create_gpg_key(call: Call, user_id: int, params: CreateGpgKey) -> GpgKeyView:
    """Add a GPG key to the caller or to a user."""
    return gpg_key_view(service.create_gpg_key(call.db, user_id, params.key))


@routes.delete("/users/:id/gpg_keys/:key_id", on=_gpg_key_of_user_or_none, may=administrators, returns=None)
@routes.delete("/user/gpg_keys/:key_id", on=_own_gpg_key_or_none, may=signed_in, returns=None)
def delete_gpg_key(call: Call, key: GpgKey | None) -> None:
    """Delete a GPG key of the caller or of a user; deleting a missing one is not an error."""
    if key is not None:
        service.delete_gpg_key(call.db, key)
