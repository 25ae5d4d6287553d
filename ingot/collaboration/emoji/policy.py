"""Permissions on award emoji; users who can see a subject can see its awards."""

from ingot.collaboration.emoji.tables import Award
from ingot.collaboration.subjects import Subject, SubjectAccess
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access

UPVOTE, DOWNVOTE = "thumbsup", "thumbsdown"


def may_read_awards(actor: Actor, access: Access, subject_access: SubjectAccess) -> bool:  # noqa: ARG001 - All rules take the same three arguments.
    """Users who can see the subject."""
    return True


def may_give_awards(actor: Actor, access: Access, subject_access: SubjectAccess) -> bool:  # noqa: ARG001 - All rules take the same three arguments.
    """Users who can participate in the subject."""
    return actor.known and subject_access.may_participate


def may_give_award(actor: Actor, subject: Subject, name: str) -> bool:
    """Check that the award is not a vote of users for their own subject."""
    return subject.author_id != actor.user_id or name not in (UPVOTE, DOWNVOTE)


def may_remove_award(actor: Actor, award: Award) -> bool:
    """The user who gave it, and administrators."""
    return award.user_id == actor.user_id or actor.admin
