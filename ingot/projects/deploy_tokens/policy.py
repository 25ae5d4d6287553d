"""Permission to read the deploy tokens of a group."""

from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access, Level
from ingot.projects.namespaces.tables import Namespace


def may_read_group_tokens(actor: Actor, access: Access, group: Namespace) -> bool:  # noqa: ARG001 - All rules take the same three.
    """Maintainers; creating tokens requires ownership."""
    return access.level >= Level.MASTER or actor.admin
