"""Who may give award emoji; those who see something see what it was given."""

from ingot.access.actor import Actor
from ingot.access.levels import Access
from ingot.emoji.tables import Award
from ingot.subjects import Reached, Subject

UPVOTE, DOWNVOTE = "thumbsup", "thumbsdown"


def may_read_awards(actor: Actor, here: Access, reached: Reached) -> bool:  # noqa: ARG001 - All rules take the same three.
    """Whoever was let find what they were given to."""
    return True


def may_give_awards(actor: Actor, here: Access, reached: Reached) -> bool:  # noqa: ARG001 - All rules take the same three.
    """Users whom its room lets take part."""
    return actor.known and reached.takes_part


def may_give(actor: Actor, subject: Subject, name: str) -> bool:
    """Everything but a vote for what one wrote oneself."""
    return subject.author_id != actor.user_id or name not in (UPVOTE, DOWNVOTE)


def may_take_back(actor: Actor, award: Award) -> bool:
    """Who gave it, and administrators."""
    return award.user_id == actor.user_id or actor.admin
