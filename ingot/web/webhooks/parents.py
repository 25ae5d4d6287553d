"""Webhook collections of projects, groups and the instance, with their API endpoints."""

from collections.abc import Callable
from typing import Any, NamedTuple

from ingot.core.db.paging import Listing
from ingot.core.errors import NotFound
from ingot.web.collections import ResourceCollection
from ingot.web.issues.group_context import ProjectOrGroupContext, group_context
from ingot.web.page_routes import TemplateResponse, Visit
from ingot.web.projects.context import ProjectContext, project_context
from ingot.webhooks import api as webhooks_api
from ingot.webhooks.policy import HEADERS, trigger_name
from ingot.webhooks.system import api as system_hooks_api
from ingot.webhooks.views import HookEventView

FLAGS = {
    "push_events": "Pushes",
    "tag_push_events": "Tag pushes",
    "issues_events": "Issues",
    "confidential_issues_events": "Confidential issues",
    "note_events": "Comments",
    "confidential_note_events": "Confidential comments",
    "merge_requests_events": "Merge requests",
    "job_events": "Jobs",
    "pipeline_events": "Pipelines",
    "wiki_page_events": "Wiki pages",
    "releases_events": "Releases",
    "milestone_events": "Milestones",
    "member_events": "Members",
    "subgroup_events": "Subgroups",
    "project_events": "Projects",
    "repository_update_events": "Repository updates",
}
GROUP_FLAGS = ("member_events", "subgroup_events", "project_events")
_EVENT_LABELS = {trigger_name(flag): label for flag, label in FLAGS.items() if flag in HEADERS}
_SYSTEM_TRIGGERS = ("push_events", "tag_push_events", "merge_requests_events", "repository_update_events")


class HookHandlers(NamedTuple):
    """Webhook endpoints of projects and groups, or of the instance."""

    list_hooks: Callable[..., Listing[Any]]
    get_hook: Callable[..., Any]
    create_hook: Callable[..., Any]
    edit_hook: Callable[..., Any]
    delete_hook: Callable[..., object]
    test_hook: Callable[..., object]
    list_events: Callable[..., Listing[HookEventView]]
    resend_event: Callable[..., object]


HOOKS = HookHandlers(
    webhooks_api.list_hooks,
    webhooks_api.get_hook,
    webhooks_api.create_hook,
    webhooks_api.edit_hook,
    webhooks_api.delete_hook,
    webhooks_api.test_hook,
    webhooks_api.list_hook_events,
    webhooks_api.resend_hook_event,
)
SYSTEM_HOOKS = HookHandlers(
    system_hooks_api.list_system_hooks,
    system_hooks_api.get_system_hook,
    system_hooks_api.create_system_hook,
    system_hooks_api.edit_system_hook,
    system_hooks_api.delete_system_hook,
    system_hooks_api.test_system_hook,
    system_hooks_api.list_system_hook_events,
    system_hooks_api.resend_system_hook_event,
)


class HookCollection(ResourceCollection, frozen=True):
    """The webhooks of a project, a group or the instance."""

    endpoints: HookHandlers
    flags: dict[str, str]
    triggers: tuple[str, ...]
    parent: ProjectOrGroupContext | None = None
    title: str = "Webhooks"

    def event_label(self, trigger: str) -> str:
        """Return the label of a trigger of the delivery log."""
        return _EVENT_LABELS.get(trigger, "System event")

    @property
    def live_kind(self) -> str:
        """Return the kind of a webhook for live updates."""
        return {"projects": "project_hook", "groups": "group_hook"}.get(self.root, "system_hook")

    def page(self, name: str, context: dict[str, Any], status: int = 200) -> TemplateResponse:
        """Render a page in the settings layout of the project or group, or in the administration layout."""
        context = {**context, "collection": self}
        if self.parent is not None:
            layout = "projects/settings.html" if isinstance(self.parent, ProjectContext) else "groups/settings.html"
            context |= {"layout": layout, "section": "hooks"}
            return self.parent.page(f"webhooks/{name}.html", "settings", context, status)
        return TemplateResponse(f"webhooks/{name}.html", {**context, "layout": "admin.html", "tab": "hooks"}, status)


_TRIGGERS = ("push_events", "tag_push_events", "issues_events", "note_events", "merge_requests_events")


def project_hooks(visit: Visit) -> HookCollection:
    """Return the webhooks of a project."""
    parent = project_context(visit)
    parent.find(webhooks_api.list_hooks)
    flags = {name: text for name, text in FLAGS.items() if name not in ("repository_update_events", *GROUP_FLAGS)}
    url, path = f"{parent.url}/-/hooks", {"id": parent.project.id}
    return HookCollection(visit, url, "projects", path, "hook_id", "hook", HOOKS, flags, _TRIGGERS, parent)


def group_hooks(visit: Visit) -> HookCollection:
    """Return the webhooks of a group, which receive the events of all its projects."""
    parent = group_context(visit)
    parent.find(webhooks_api.list_hooks)
    flags = {name: text for name, text in FLAGS.items() if name != "repository_update_events"}
    url, path = f"{parent.url}/-/hooks", {"id": parent.group.id}
    return HookCollection(visit, url, "groups", path, "hook_id", "hook", HOOKS, flags, _TRIGGERS, parent)


def system_hooks(visit: Visit) -> HookCollection:
    """Return the system hooks of the instance; raise ``NotFound`` unless the user is an administrator."""
    if visit.viewer.user is None or not visit.viewer.user.admin:
        raise NotFound("Page")
    flags = {name: FLAGS[name] for name in _SYSTEM_TRIGGERS}
    return HookCollection(
        visit, "/admin/hooks", "hooks", {}, "id", "hook", SYSTEM_HOOKS, flags, (), title="System hooks"
    )
