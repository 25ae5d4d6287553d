"""Who may see the deploy tokens of a group; its owners make them, and a project's are its masters'."""

from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access, Level
from ingot.projects.namespaces.tables import Namespace


def may_read_group_tokens(actor: Actor, access: Access, group: Namespace) -> bool:  # noqa: ARG001 - All rules take the same three.
    """Masters; only owners make them."""
    return access.level >= Level.MASTER or actor.admin
