"""What callers see of pipeline triggers."""

from ingot.access.actor import Actor
from ingot.api.views import View
from ingot.db.connection import Connection
from ingot.db.times import Timestamp
from ingot.triggers.policy import may_see_token
from ingot.triggers.tables import Trigger
from ingot.users.accounts.views import UserBrief, joined_brief

SHOWN_TO_OTHERS = 4


class TriggerView(View):
    """A trigger; all but its owner see only how the token begins."""

    id: int
    token: str
    description: str
    created_at: Timestamp
    updated_at: Timestamp
    last_used: Timestamp | None
    owner: UserBrief | None
    deleted_at: None = None


def trigger_view(db: Connection, actor: Actor, trigger: Trigger, base: str) -> TriggerView:
    """The trigger for one who administers its project."""
    token = db.vault.unseal(trigger.sealed_token)
    return TriggerView(
        trigger.id,
        token if may_see_token(actor, trigger) else token[:SHOWN_TO_OTHERS],
        trigger.description,
        trigger.created_at,
        trigger.updated_at,
        trigger.last_used,
        _owner(trigger, base),
    )


def _owner(trigger: Trigger, base: str) -> UserBrief | None:
    return joined_brief(
        trigger.owner_id,
        trigger.username,
        trigger.name,
        trigger.state,
        trigger.avatar_id,
        trigger.avatar_file,
        base,
    )
