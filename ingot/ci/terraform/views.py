"""Response structs of Terraform states."""

from collections.abc import Sequence

import msgspec

from ingot.accounts.users.queries import user_or_none
from ingot.accounts.users.views import UserBrief, user_briefs_by_ids
from ingot.ci.terraform.params import LOCK_FIELDS
from ingot.ci.terraform.queries import latest_versions
from ingot.ci.terraform.tables import StateVersion, TerraformState
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp


class StateVersionView(View):
    """A version of a state; its content is not part of the response."""

    serial: int
    size: int
    job_id: int | None
    created_at: Timestamp
    created_by: UserBrief | None


class TerraformStateView(View):
    """A state with its latest version."""

    id: int
    name: str
    locked_at: Timestamp | None
    locked_by: UserBrief | None
    created_at: Timestamp
    updated_at: Timestamp
    latest_version: StateVersionView | None


def state_views(db: Connection, states: Sequence[TerraformState], base: str) -> list[TerraformStateView]:
    """Return the views of a page of states."""
    latest = latest_versions(db, [state.id for state in states])
    ids = [*(state.locked_by_id for state in states), *(version.created_by_id for version in latest.values())]
    users = user_briefs_by_ids(db, ids, base)
    return [
        TerraformStateView(
            state.id,
            state.name,
            state.locked_at,
            users.get(state.locked_by_id or 0),
            state.created_at,
            state.updated_at,
            _version_view(latest[state.id], users) if state.id in latest else None,
        )
        for state in states
    ]


def _version_view(version: StateVersion, users: dict[int, UserBrief]) -> StateVersionView:
    creator = users.get(version.created_by_id or 0)
    return StateVersionView(version.serial, version.size, version.job_id, version.created_at, creator)


class StateLockView(View, rename=LOCK_FIELDS):
    """The lock of a state with the user who holds it, as clients expect it."""

    lock_id: str
    operation: str
    info: str
    who: str
    version: str
    created: Timestamp
    path: str


def state_lock_view(db: Connection, state: TerraformState) -> StateLockView:
    """Return the view of the lock of a state."""
    info = msgspec.json.decode(state.lock_info or "{}", type=dict[str, str])
    user = None if state.locked_by_id is None else user_or_none(db, state.locked_by_id)
    return StateLockView(
        state.lock_id or "",
        info.get("operation", ""),
        info.get("info", ""),
        "" if user is None else user.username,
        info.get("version", ""),
        state.locked_at or state.updated_at,
        info.get("path", ""),
    )
