"""Shared code of the settings pages of projects and groups."""

from typing import Any

from ingot.core.errors import NotFound
from ingot.projects.groups import api as groups_api
from ingot.projects.invitations.api import InvitationHandlers
from ingot.projects.members.api import AccessRequestHandlers, MemberHandlers
from ingot.projects.sharing import api as sharing_api
from ingot.web.issues.group_context import GroupContext, ProjectOrGroupContext, group_context
from ingot.web.page_routes import TemplateResponse, Visit
from ingot.web.projects.context import ProjectContext


def member_endpoints(parent: ProjectOrGroupContext) -> MemberHandlers:
    """Return the endpoints of the members of a project or a group."""
    return sharing_api.MEMBERS if isinstance(parent, ProjectContext) else groups_api.MEMBERS


def access_request_endpoints(parent: ProjectOrGroupContext) -> AccessRequestHandlers:
    """Return the endpoints of the access requests of a project or a group."""
    return sharing_api.ACCESS_REQUESTS if isinstance(parent, ProjectContext) else groups_api.ACCESS_REQUESTS


def invitation_endpoints(parent: ProjectOrGroupContext) -> InvitationHandlers:
    """Return the endpoints of the invitations into a project or a group."""
    return sharing_api.INVITATIONS if isinstance(parent, ProjectContext) else groups_api.INVITATIONS


def find_group_settings(visit: Visit) -> GroupContext:
    """Return the group; raise ``NotFound`` unless the user has permission to edit it, or to restore it."""
    parent = group_context(visit)
    if not parent.may(groups_api.restore_group):
        raise NotFound("Page")
    return parent


def settings_page(
    parent: ProjectOrGroupContext,
    template: str,
    section: str,
    context: dict[str, Any],
    status: int = 200,
    tab: str = "settings",
) -> TemplateResponse:
    """Render a page in the settings layout, or in the normal layout if ``tab`` is not "settings"."""
    project = isinstance(parent, ProjectContext)
    if tab == "settings":
        layout = "projects/settings.html" if project else "groups/settings.html"
    else:
        layout = "project.html" if project else "issues/group.html"
    return parent.page(template, tab, {**context, "layout": layout, "section": section}, status)
