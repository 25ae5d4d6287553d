"""Who may tell about tags."""

from collections.abc import Sequence

from ingot.access.actor import Actor
from ingot.access.levels import Access
from ingot.projects.policy import may_push_code
from ingot.projects.tables import Project
from ingot.repository.protection import policy as protection
from ingot.repository.protection.tables import ProtectedTag


def may_release(actor: Actor, here: Access, project: Project, matching: Sequence[ProtectedTag]) -> bool:
    """Developers; of a protected tag those who may create it, since a release speaks for it."""
    may_tag = not matching or protection.may_create_tag(actor, here, matching)
    return may_tag and may_push_code(actor, here, project)
