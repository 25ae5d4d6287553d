"""Public SSH and GPG keys of users as text, at ``/<username>.keys`` and ``/<username>.gpg``."""

from collections.abc import Callable

from ingot.accounts.keys.views import gpg_keys_of_user, keys_of_user
from ingot.accounts.users.views import user_view_by_name
from ingot.core.db.connection import Connection
from ingot.web.page_routes import BytesResponse, Visit

_TEXT = "text/plain; charset=utf-8"


def _ssh_keys(db: Connection, user_id: int) -> list[str]:
    return [key.key for key in keys_of_user(db, user_id) if key.active(db.now)]


def _gpg_keys(db: Connection, user_id: int) -> list[str]:
    return [key.key.strip() for key in gpg_keys_of_user(db, user_id)]


_ENDINGS: dict[str, Callable[[Connection, int], list[str]]] = {".keys": _ssh_keys, ".gpg": _gpg_keys}


def keys_at_path(visit: Visit, db: Connection) -> BytesResponse | None:
    """Return the keys of the user whose name precedes the ending; None if there is no such user."""
    path = visit.request.path["path"]
    for ending, read in _ENDINGS.items():
        user = user_view_by_name(db, path.removesuffix(ending), "") if path.endswith(ending) else None
        if user is not None and user.state == "active":
            return BytesResponse("".join(f"{key}\n" for key in read(db, user.id)).encode(), _TEXT)
    return None
