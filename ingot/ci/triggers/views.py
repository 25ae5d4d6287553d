"""Response structs of pipeline triggers."""

from ingot.accounts.users.views import UserBrief, user_brief_from_columns
from ingot.ci.triggers.policy import may_see_token
from ingot.ci.triggers.tables import Trigger
from ingot.core.access.actor import Actor
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp

VISIBLE_TOKEN_LENGTH = 4


class TriggerView(View):
    """A trigger; only its owner sees the whole token."""

    id: int
    token: str
    description: str
    created_at: Timestamp
    updated_at: Timestamp
    last_used: Timestamp | None
    owner: UserBrief | None
    deleted_at: None = None


def trigger_view(db: Connection, actor: Actor, trigger: Trigger, base: str) -> TriggerView:
    """Return the view of a trigger for a user who administers its project."""
    token = db.vault.unseal(trigger.sealed_token)
    return TriggerView(
        trigger.id,
        token if may_see_token(actor, trigger) else token[:VISIBLE_TOKEN_LENGTH],
        trigger.description,
        trigger.created_at,
        trigger.updated_at,
        trigger.last_used,
        _owner(trigger, base),
    )


def _owner(trigger: Trigger, base: str) -> UserBrief | None:
    return user_brief_from_columns(
        trigger.owner_id,
        trigger.username,
        trigger.name,
        trigger.state,
        trigger.avatar_id,
        trigger.avatar_file,
        trigger.bot,
        base,
    )
