"""Where hooks hang: on a project, a group or the whole instance; the API has a path for each."""

from typing import Any

from ingot.errors import NotFound
from ingot.web.collections import ResourceCollection
from ingot.web.issues.group_context import GroupContext, group_context
from ingot.web.page_routes import TemplateResponse, Visit
from ingot.web.projects.context import ProjectContext, project_context

FLAGS = {
    "push_events": "Pushes",
    "tag_push_events": "Tags",
    "issues_events": "Issues",
    "confidential_issues_events": "Confidential issues",
    "note_events": "Comments",
    "confidential_note_events": "Confidential comments",
    "merge_requests_events": "Merge requests",
    "job_events": "Jobs",
    "pipeline_events": "Pipelines",
    "wiki_page_events": "Wiki pages",
    "releases_events": "Releases",
    "repository_update_events": "Changed repositories",
}
_SYSTEM_TRIGGERS = ("push_events", "tag_push_events", "merge_requests_events", "repository_update_events")


class HookCollection(ResourceCollection, frozen=True):
    """One place with hooks."""

    flags: dict[str, str]
    triggers: tuple[str, ...]
    place: ProjectContext | GroupContext | None = None
    title: str = ""

    def page(self, name: str, context: dict[str, Any], status: int = 200) -> TemplateResponse:
        """A page in the frame of where they hang."""
        context = {**context, "shelf": self}
        if self.place is not None:
            frame = "projects/settings.html" if isinstance(self.place, ProjectContext) else "groups/settings.html"
            context |= {"frame": frame, "section": "hooks"}
            return self.place.page(f"webhooks/{name}.html", "settings", context, status)
        return TemplateResponse(f"webhooks/{name}.html", {**context, "frame": "admin.html", "tab": "hooks"}, status)


_TRIGGERS = ("push_events", "tag_push_events", "issues_events", "note_events", "merge_requests_events")


def project_hooks(visit: Visit) -> HookCollection:
    """A project's hooks."""
    place = project_context(visit)
    route, path = "/projects/:id/hooks", {"id": place.project.id}
    visit.get(route, **path)
    flags = {name: text for name, text in FLAGS.items() if name != "repository_update_events"}
    return HookCollection(visit, f"{place.url}/-/hooks", route, path, "hook_id", "hook", flags, _TRIGGERS, place)


def group_hooks(visit: Visit) -> HookCollection:
    """A group's hooks, which hear of all projects in it."""
    place = group_context(visit)
    route, path = "/groups/:id/hooks", {"id": place.group.id}
    visit.get(route, **path)
    flags = {name: text for name, text in FLAGS.items() if name != "repository_update_events"}
    title = place.group.full_name
    return HookCollection(visit, f"{place.url}/-/hooks", route, path, "hook_id", "hook", flags, _TRIGGERS, place, title)


def system_hooks(visit: Visit) -> HookCollection:
    """The instance's hooks, which hear of everything."""
    if visit.user is None or not visit.user.admin:
        raise NotFound("Page")
    flags = {name: FLAGS[name] for name in _SYSTEM_TRIGGERS}
    return HookCollection(visit, "/admin/hooks", "/hooks", {}, "id", "hook", flags, (), title="System hooks")
