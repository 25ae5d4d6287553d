"""Request parameters of Terraform states, with the names that the HTTP backend uses."""

from ingot.core.api.params import Params

LOCK_FIELDS = {
    "lock_id": "ID",
    "operation": "Operation",
    "info": "Info",
    "who": "Who",
    "version": "Version",
    "created": "Created",
    "path": "Path",
}
"""Names of the fields of a lock in requests and responses."""


class StateLockId(Params, rename={"lock_id": "ID"}):
    """The lock that the caller holds, if any."""

    lock_id: str | None = None


class LockState(Params, rename=LOCK_FIELDS):
    """A new lock."""

    lock_id: str
    operation: str = ""
    info: str = ""
    who: str = ""
    version: str = ""
    created: str = ""
    path: str = ""
