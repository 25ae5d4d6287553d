"""Permissions on wikis of projects and groups."""

from typing import NamedTuple

from ingot.core.access.actor import Actor
from ingot.core.access.levels import NO_ACCESS, Access, Level
from ingot.git.core.repository import Repository
from ingot.projects.groups.policy import may_see_group
from ingot.projects.namespaces.tables import Namespace
from ingot.projects.projects import policy
from ingot.projects.projects.feature_access import may_use_feature
from ingot.projects.projects.tables import Project
from ingot.repositories.wikis.owners import WikiOwner


class WikiContext(NamedTuple):
    """A wiki and the caller's access; without a repository until the wiki is used for the first time."""

    access: Access
    owner: WikiOwner
    repository: Repository | None


def may_read_wiki(actor: Actor, access: Access, context: WikiContext) -> bool:
    """Users who can see the project or group, if it has a wiki; a private wiki of a group is for its members."""
    if isinstance(context.owner, Project):
        return may_use_feature(actor, access, context.owner, "wiki") and policy.may_see_project(
            actor, access, context.owner
        )
    level = context.owner.options.wiki_access_level
    member = access.level >= Level.GUEST or actor.admin
    return level != "disabled" and (member or (level == "enabled" and _is_open_to(actor, context.owner)))


def may_download_wiki(actor: Actor, access: Access, context: WikiContext) -> bool:
    """Readers of the wiki, with the level of a reporter unless its owner is visible without a membership."""
    if isinstance(context.owner, Project):
        return may_read_wiki(actor, access, context) and policy.may_download_wiki(actor, access, context.owner)
    if not may_read_wiki(actor, access, context):
        return False
    return access.level >= Level.REPORTER or actor.admin or _is_open_to(actor, context.owner)


def may_write_wiki(actor: Actor, access: Access, context: WikiContext) -> bool:
    """Developers, if there is a wiki and the project is not archived."""
    if isinstance(context.owner, Project):
        return context.owner.wiki_enabled and policy.may_write_project(actor, access, context.owner)
    return _may_with_level(actor, access, context, Level.DEVELOPER)


def may_delete_page(actor: Actor, access: Access, context: WikiContext) -> bool:
    """Maintainers, if there is a wiki and the project is not archived."""
    if isinstance(context.owner, Project):
        return context.owner.wiki_enabled and policy.may_change_project(actor, access, context.owner)
    return _may_with_level(actor, access, context, Level.MASTER)


def _may_with_level(actor: Actor, access: Access, context: WikiContext, level: Level) -> bool:
    return may_read_wiki(actor, access, context) and (access.level >= level or actor.admin)


def _is_open_to(actor: Actor, group: Namespace) -> bool:
    """Return whether a group is visible without a membership; members of its projects see its name, not its wiki."""
    return may_see_group(actor, NO_ACCESS, group)
