"""Permissions on resource events."""

from ingot.collaboration.subjects import SubjectAccess
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access


def may_read_resource_events(actor: Actor, access: Access, subject_access: SubjectAccess) -> bool:  # noqa: ARG001 - All rules take the same three arguments.
    """Users who can see the subject."""
    return True
