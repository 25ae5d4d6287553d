"""Subscriber that handles the award emoji of deleted users."""

from sqlalchemy import bindparam, case, func, select, update

from ingot.accounts.users.events import UserDeleting
from ingot.collaboration.emoji.events import VotesChanged
from ingot.collaboration.emoji.policy import DOWNVOTE, UPVOTE
from ingot.collaboration.emoji.tables import award_emoji
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import one_of
from ingot.core.events.bus import Subscriptions, emit

subscriptions = Subscriptions()
_OF_USER = award_emoji.c.user_id == bindparam("user")
_TRANSFER = (
    update(award_emoji).where(_OF_USER).values(user_id=bindparam("placeholder"), former_user_id=bindparam("former"))
)
_VOTES = (
    select(
        award_emoji.c.subject_kind,
        award_emoji.c.subject_id,
        func.sum(case((award_emoji.c.name == UPVOTE, 1), else_=0)),
        func.sum(case((award_emoji.c.name == DOWNVOTE, 1), else_=0)),
    )
    .where(_OF_USER, one_of(award_emoji.c.name, UPVOTE, DOWNVOTE))
    .group_by(award_emoji.c.subject_kind, award_emoji.c.subject_id)
    .order_by(award_emoji.c.subject_kind, award_emoji.c.subject_id)
)


@subscriptions.on(UserDeleting)
def transfer_or_delete_awards(db: Connection, event: UserDeleting) -> None:
    """Transfer the awards of a deleted user to the placeholder user, or subtract their votes.

    A hard delete removes the award rows with the user's row.
    """
    if not event.hard:
        db.run(_TRANSFER, user=event.user_id, placeholder=event.placeholder_id, former=event.user_id)
        return
    for kind, subject_id, upvotes, downvotes in db.rows(_VOTES, user=event.user_id):
        emit(db, VotesChanged(kind, subject_id, -int(upvotes), -int(downvotes)))
