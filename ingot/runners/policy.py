"""Who may see which runners."""

from ingot.access.actor import Actor
from ingot.access.levels import Access, Level
from ingot.groups.namespaces.tables import Namespace


def may_list_group_runners(actor: Actor, here: Access, group: Namespace) -> bool:  # noqa: ARG001 - All rules take the same three.
    """Masters, owners and administrators."""
    return here.level >= Level.MASTER or actor.admin
