"""Permissions on releases."""

from collections.abc import Sequence

from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.projects.projects.policy import may_push_code
from ingot.projects.projects.tables import Project
from ingot.repositories.protection import policy as protection
from ingot.repositories.protection.tables import ProtectedTag


def may_release(actor: Actor, access: Access, project: Project, matching: Sequence[ProtectedTag]) -> bool:
    """Developers; for a protected tag, users who may create it."""
    may_tag = not matching or protection.may_create_tag(actor, access, matching)
    return may_tag and may_push_code(actor, access, project)
