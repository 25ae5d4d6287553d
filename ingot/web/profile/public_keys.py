"""Public SSH and GPG keys of users as text, at ``/<username>.keys`` and ``/<username>.gpg``."""

from collections.abc import Callable
from urllib.parse import urlsplit

from ingot.accounts.keys.views import gpg_keys_of_user, keys_of_user
from ingot.accounts.users.views import UserView, user_view_by_name
from ingot.core.db.connection import Connection
from ingot.web.page_routes import BytesResponse, Visit

_TEXT = "text/plain; charset=utf-8"


def _ssh_keys(db: Connection, user: UserView, host: str) -> list[str]:
    """Return the type and key; the comment of a key, often a private address, is replaced by the user's name."""
    comment = " ".join(f"{user.name} ({host})".split())
    keys = [key.key.split() for key in keys_of_user(db, user.id) if key.active(db.now)]
    return [" ".join([*parts[:2], comment]) for parts in keys]


def _gpg_keys(db: Connection, user: UserView, host: str) -> list[str]:  # noqa: ARG001 - All endings take the same three.
    return [key.key.strip() for key in gpg_keys_of_user(db, user.id)]


_ENDINGS: dict[str, Callable[[Connection, UserView, str], list[str]]] = {".keys": _ssh_keys, ".gpg": _gpg_keys}


def keys_at_path(visit: Visit, db: Connection) -> BytesResponse | None:
    """Return the keys of the user whose name precedes the ending; None if there is no such user."""
    path, host = visit.request.path["path"], urlsplit(visit.request.origin.base).hostname or ""
    for ending, read in _ENDINGS.items():
        user = user_view_by_name(db, path.removesuffix(ending), "") if path.endswith(ending) else None
        if user is not None and user.state == "active":
            return BytesResponse("".join(f"{key}\n" for key in read(db, user, host)).encode(), _TEXT)
    return None
