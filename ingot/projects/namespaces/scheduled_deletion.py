"""Rules for the scheduled deletion of groups and projects."""

import secrets

from ingot.accounts.instance.all_settings import cached_all_settings
from ingot.core.access.actor import Actor
from ingot.core.api.params import Params
from ingot.core.db.connection import Connection
from ingot.core.db.times import Date
from ingot.core.errors import Denied, Invalid

_MAX_NAME = 200


class DeleteScheduled(Params):
    """Deletion of something that may have been scheduled for it before."""

    permanently_remove: bool = False
    """Delete something that is scheduled at once; then ``full_path`` confirms it."""
    full_path: str | None = None


def scheduled_name(name: str, row_id: int) -> str:
    """Return the name or path until the deletion, so that the former one can be used again."""
    return f"{name[:_MAX_NAME]}-deletion_scheduled-{row_id}"


def restored_name(name: str, before: str | None, row_id: int) -> str:
    """Return the name or path after a restoration: the former one, unless it was changed since."""
    return before if before is not None and name == scheduled_name(before, row_id) else name


def suffix_of_restored(taken: bool) -> str:
    """Return an ending for the restored name and path; a random one if others use them by now."""
    return f"-{secrets.token_hex(3)}" if taken else ""


def require_deletion_allowed(db: Connection, actor: Actor) -> None:
    """Raise Denied if only administrators may delete projects, and groups with what they contain."""
    if not actor.admin and cached_all_settings(db).default_project_deletion_protection:
        raise Denied("Only administrators can delete projects and groups")


def require_deletion_at_once(kind: str, marked_on: Date | None, full_path: str, params: DeleteScheduled) -> None:
    """Raise Invalid unless something that is scheduled for deletion may be deleted now."""
    if marked_on is None:
        raise Invalid(f"{kind} must be marked for deletion first.")
    if not params.permanently_remove:
        raise Invalid(f"{kind} has been already marked for deletion")
    if (params.full_path or "").lower() != full_path.lower():
        raise Invalid(f"`full_path` is incorrect. You must enter the complete path for the {kind.lower()}.")
