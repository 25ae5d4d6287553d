"""SSH and GPG keys over the API."""

from ingot.access.levels import NO_ACCESS, Access
from ingot.access.rules import administrators, signed_in
from ingot.access.scopes import READING_USERS
from ingot.api.params import path_number
from ingot.api.routes import Call, Routes
from ingot.db.paging import Listing, Page
from ingot.errors import NotFound
from ingot.users.accounts.api import user_in_path
from ingot.users.accounts.tables import User
from ingot.users.keys import queries, service
from ingot.users.keys.params import CreateGpgKey, CreateKey, FindKey
from ingot.users.keys.parsing import parse_fingerprint
from ingot.users.keys.tables import GpgKey, SshKey
from ingot.users.keys.views import GpgKeyView, KeyView, KeyWithUser, gpg_key_view, key_view, key_with_user

routes = Routes("users")


def _key_of_user(call: Call) -> tuple[Access, SshKey]:
    """The key that the path names, of the user whom it names."""
    key_id = path_number(call.path, "key_id")
    _, user = user_in_path(call)
    return NO_ACCESS, queries.find_key_of_user(call.db, user.id, key_id)


def _list_keys(call: Call, user_id: int, page: Page) -> Listing[KeyView]:
    found = queries.list_keys(call.db, user_id, page)
    return found.of([key_view(key) for key in found.items])


@routes.get("/user/keys", may=signed_in, returns=list[KeyView], scopes=READING_USERS)
def list_own_keys(call: Call, page: Page) -> Listing[KeyView]:
    """List the caller's SSH keys."""
    return _list_keys(call, call.actor.user_id, page)


@routes.get("/user/keys/:key_id", may=signed_in, returns=KeyView, scopes=READING_USERS)
def get_own_key(call: Call) -> KeyView:
    """Get one of the caller's SSH keys."""
    return key_view(queries.find_key_of_user(call.db, call.actor.user_id, path_number(call.path, "key_id")))


@routes.post("/user/keys", may=signed_in, returns=KeyView)
def create_own_key(call: Call, params: CreateKey) -> KeyView:
    """Add an SSH key to the caller."""
    return key_view(service.create_key(call.db, call.actor.user_id, params))


@routes.delete("/user/keys/:key_id", may=signed_in, returns=None)
def delete_own_key(call: Call) -> None:
    """Delete one of the caller's SSH keys; one that is not there is deleted already."""
    key = queries.key_of_user_or_none(call.db, call.actor.user_id, path_number(call.path, "key_id"))
    if key is not None:
        service.delete_key(call.db, key)


@routes.get("/users/:id/keys", on=user_in_path, may=administrators, returns=list[KeyView], scopes=READING_USERS)
def list_keys(call: Call, user: User, page: Page) -> Listing[KeyView]:
    """List a user's SSH keys."""
    return _list_keys(call, user.id, page)


@routes.get("/users/:id/keys/:key_id", on=_key_of_user, may=administrators, returns=KeyView, scopes=READING_USERS)
def get_key_of_user(call: Call, key: SshKey) -> KeyView:  # noqa: ARG001 - All handlers take the call.
    """Get one of a user's SSH keys."""
    return key_view(key)


@routes.post("/users/:id/keys", on=user_in_path, may=administrators, returns=KeyView)
def create_key(call: Call, user: User, params: CreateKey) -> KeyView:
    """Add an SSH key to a user."""
    return key_view(service.create_key(call.db, user.id, params))


@routes.delete("/users/:id/keys/:key_id", on=_key_of_user, may=administrators, returns=None)
def delete_key(call: Call, key: SshKey) -> None:
    """Delete one of a user's SSH keys; here the contract wants it to be there."""
    service.delete_key(call.db, key)


@routes.get("/keys", may=administrators, returns=KeyWithUser)
def find_key(call: Call, params: FindKey) -> KeyWithUser:
    """Get an SSH key and its user by the key's fingerprint."""
    key = queries.find_key_by_fingerprint(call.db, parse_fingerprint(params.fingerprint))
    return key_with_user(call.db, key, call.origin.base)


@routes.get("/keys/:id", may=administrators, returns=KeyWithUser)
def get_key(call: Call) -> KeyWithUser:
    """Get an SSH key and its user."""
    key = queries.find_key(call.db, path_number(call.path, "id"))
    return key_with_user(call.db, key, call.origin.base)


def _gpg_key_of_user_or_none(call: Call) -> tuple[Access, GpgKey | None]:
    """The GPG key that the path names, of the user whom it names, who must be there."""
    key_id = path_number(call.path, "key_id")
    _, user = user_in_path(call)
    return NO_ACCESS, queries.gpg_key_of_user_or_none(call.db, user.id, key_id)


def _gpg_key_of_user(call: Call) -> tuple[Access, GpgKey]:
    """The same, which must be there too."""
    here, key = _gpg_key_of_user_or_none(call)
    if key is None:
        raise NotFound("GPG Key")
    return here, key


def _list_gpg_keys(call: Call, user_id: int, page: Page) -> Listing[GpgKeyView]:
    found = queries.list_gpg_keys(call.db, user_id, page)
    return found.of([gpg_key_view(key) for key in found.items])


@routes.get("/user/gpg_keys", may=signed_in, returns=list[GpgKeyView], scopes=READING_USERS)
def list_own_gpg_keys(call: Call, page: Page) -> Listing[GpgKeyView]:
    """List the caller's GPG keys."""
    return _list_gpg_keys(call, call.actor.user_id, page)


@routes.get("/user/gpg_keys/:key_id", may=signed_in, returns=GpgKeyView, scopes=READING_USERS)
def get_own_gpg_key(call: Call) -> GpgKeyView:
    """Get one of the caller's GPG keys."""
    return gpg_key_view(queries.find_gpg_key_of_user(call.db, call.actor.user_id, path_number(call.path, "key_id")))


@routes.post("/user/gpg_keys", may=signed_in, returns=GpgKeyView)
def create_own_gpg_key(call: Call, params: CreateGpgKey) -> GpgKeyView:
    """Add a GPG key to the caller."""
    return gpg_key_view(service.create_gpg_key(call.db, call.actor.user_id, params.key))


@routes.delete("/user/gpg_keys/:key_id", may=signed_in, returns=None)
def delete_own_gpg_key(call: Call) -> None:
    """Delete one of the caller's GPG keys; one that is not there is deleted already."""
    key = queries.gpg_key_of_user_or_none(call.db, call.actor.user_id, path_number(call.path, "key_id"))
    if key is not None:
        service.delete_gpg_key(call.db, key)


@routes.get("/users/:id/gpg_keys", on=user_in_path, may=signed_in, returns=list[GpgKeyView], scopes=READING_USERS)
def list_gpg_keys(call: Call, user: User, page: Page) -> Listing[GpgKeyView]:
    """List a user's GPG keys, which everybody needs to check their signatures."""
    return _list_gpg_keys(call, user.id, page)


@routes.get("/users/:id/gpg_keys/:key_id", on=_gpg_key_of_user, may=signed_in, returns=GpgKeyView, scopes=READING_USERS)
def get_gpg_key(call: Call, key: GpgKey) -> GpgKeyView:  # noqa: ARG001 - All handlers take the call.
    """Get one of a user's GPG keys."""
    return gpg_key_view(key)


@routes.post("/users/:id/gpg_keys", on=user_in_path, may=administrators, returns=GpgKeyView)
def create_gpg_key(call: Call, user: User, params: CreateGpgKey) -> GpgKeyView:
    """Add a GPG key to a user."""
    return gpg_key_view(service.create_gpg_key(call.db, user.id, params.key))


@routes.delete("/users/:id/gpg_keys/:key_id", on=_gpg_key_of_user_or_none, may=administrators, returns=None)
def delete_gpg_key(call: Call, key: GpgKey | None) -> None:
    """Delete one of a user's GPG keys; one that is not there is deleted already."""
    if key is not None:
        service.delete_gpg_key(call.db, key)
