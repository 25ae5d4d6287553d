"""Who may give award emoji; those who see something see what it was given."""

from ingot.collaboration.emoji.tables import Award
from ingot.collaboration.subjects import Subject, SubjectAccess
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access

UPVOTE, DOWNVOTE = "thumbsup", "thumbsdown"


def may_read_awards(actor: Actor, access: Access, subject_access: SubjectAccess) -> bool:  # noqa: ARG001 - All rules take the same three.
    """Whoever was let find what they were given to."""
    return True


def may_give_awards(actor: Actor, access: Access, subject_access: SubjectAccess) -> bool:  # noqa: ARG001 - All rules take the same three.
    """Users whom its room lets take part."""
    return actor.known and subject_access.may_participate


def may_give_award(actor: Actor, subject: Subject, name: str) -> bool:
    """Everything but a vote for what one wrote oneself."""
    return subject.author_id != actor.user_id or name not in (UPVOTE, DOWNVOTE)


def may_remove_award(actor: Actor, award: Award) -> bool:
    """Who gave it, and administrators."""
    return award.user_id == actor.user_id or actor.admin
