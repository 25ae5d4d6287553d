"""Where hooks hang: on a project, a group or the whole instance; the API has a path for each."""

from typing import Any

from ingot.errors import NotFound
from ingot.web.issues.group_place import GroupPlace, group_place_of
from ingot.web.pages import Page, Visit
from ingot.web.projects.place import Place, place_of
from ingot.web.shelves import Shelf

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
_OF_THE_INSTANCE = ("push_events", "tag_push_events", "merge_requests_events", "repository_update_events")


class HookShelf(Shelf, frozen=True):
    """One place with hooks."""

    flags: dict[str, str]
    triggers: tuple[str, ...]
    place: Place | GroupPlace | None = None
    title: str = ""

    def page(self, name: str, context: dict[str, Any], status: int = 200) -> Page:
        """A page in the frame of where they hang."""
        context = {**context, "shelf": self}
        if self.place is not None:
            frame = "projects/settings.html" if isinstance(self.place, Place) else "groups/settings.html"
            context |= {"frame": frame, "section": "hooks"}
            return self.place.page(f"hooks/{name}.html", "settings", context, status)
        return Page(f"hooks/{name}.html", {**context, "frame": "admin.html", "tab": "hooks"}, status)


_TRIGGERS = ("push_events", "tag_push_events", "issues_events", "note_events", "merge_requests_events")


def project_shelf(visit: Visit) -> HookShelf:
    """A project's hooks."""
    place = place_of(visit)
    route, path = "/projects/:id/hooks", {"id": place.project.id}
    visit.get(route, **path)
    flags = {name: text for name, text in FLAGS.items() if name != "repository_update_events"}
    return HookShelf(visit, f"{place.url}/-/hooks", route, path, "hook_id", "hook", flags, _TRIGGERS, place)


def group_shelf(visit: Visit) -> HookShelf:
    """A group's hooks, which hear of all projects in it."""
    place = group_place_of(visit)
    route, path = "/groups/:id/hooks", {"id": place.group.id}
    visit.get(route, **path)
    flags = {name: text for name, text in FLAGS.items() if name != "repository_update_events"}
    title = place.group.full_name
    return HookShelf(visit, f"{place.url}/-/hooks", route, path, "hook_id", "hook", flags, _TRIGGERS, place, title)


def system_shelf(visit: Visit) -> HookShelf:
    """The instance's hooks, which hear of everything."""
    if visit.user is None or not visit.user.admin:
        raise NotFound("Page")
    flags = {name: FLAGS[name] for name in _OF_THE_INSTANCE}
    return HookShelf(visit, "/admin/hooks", "/hooks", {}, "id", "hook", flags, (), title="System hooks")
