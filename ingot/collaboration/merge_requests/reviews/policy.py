"""Permissions on draft notes."""

from ingot.collaboration.subjects import SubjectAccess
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access


def may_read_own_drafts(actor: Actor, access: Access, subject_access: SubjectAccess) -> bool:  # noqa: ARG001 - Permission functions share one signature.
    """Signed-in users who see the merge request; each sees their own draft notes only."""
    return actor.known
