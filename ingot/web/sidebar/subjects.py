"""Issues and merge requests as subjects of the sidebar: their fields and the permissions to change them."""

from collections.abc import Callable
from typing import Any

import msgspec

from ingot.collaboration.issues import policy as issues_policy
from ingot.collaboration.labels.views import LabelBrief, label_briefs_of
from ingot.collaboration.merge_requests import policy as requests_policy
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.core.errors import NotFound
from ingot.web.discussions.discussable import (
    ISSUE,
    ISSUE_ENDPOINTS,
    MERGE_REQUEST,
    MERGE_REQUEST_ENDPOINTS,
    Discussable,
    DiscussableKind,
    PlannedHandlers,
    discussable_in,
)
from ingot.web.page_routes import Visit
from ingot.web.projects.context import ProjectContext, project_context


class SidebarKind(msgspec.Struct, frozen=True):
    """Kind of subject with a sidebar."""

    discussable_kind: DiscussableKind
    endpoints: PlannedHandlers
    subject_kind: str
    """Subject kind under which its labels are stored."""
    fields: tuple[str, ...]
    may_triage: Callable[[Actor, Access, Any], bool]
    may_edit: Callable[[Actor, Access, Any], bool]


SIDEBAR_KINDS = (
    SidebarKind(
        ISSUE,
        ISSUE_ENDPOINTS,
        "issue",
        ("assignees", "labels", "milestone", "due_date", "time"),
        issues_policy.may_triage,
        issues_policy.may_edit_issue,
    ),
    SidebarKind(
        MERGE_REQUEST,
        MERGE_REQUEST_ENDPOINTS,
        "merge_request",
        ("assignees", "reviewers", "labels", "milestone", "time"),
        requests_policy.may_triage,
        requests_policy.may_edit_merge_request,
    ),
)


class SidebarField(msgspec.Struct, frozen=True):
    """Sidebar field of one issue or merge request that the viewer may change."""

    parent: ProjectContext
    discussable: Discussable
    kind: SidebarKind
    name: str
    item: Any

    @property
    def url(self) -> str:
        """Return the path of the field's form."""
        return f"{self.discussable.url}/sidebar/{self.name}"

    @property
    def labels(self) -> list[LabelBrief]:
        """Return the labels with their colors."""
        if not self.item.labels:
            return []
        labels_by_id = self.parent.visit.database.read(
            lambda db: label_briefs_of(db, self.kind.subject_kind, [self.item.id])
        )
        return labels_by_id.get(self.item.id, [])

    def now(self) -> "SidebarField":
        """Return the field with the subject read again after a change."""
        return msgspec.structs.replace(self, item=self.discussable.ask(self.kind.endpoints.get))


def find_sidebar_field(visit: Visit, kind: SidebarKind) -> SidebarField:
    """Return the field in the URL; raise NotFound if the viewer may not change it."""
    parent, name = project_context(visit), visit.request.path["field"]
    discussable = discussable_in(
        parent, kind.discussable_kind, visit.request.path[kind.discussable_kind.path_parameter]
    )
    lookup = discussable.find(kind.endpoints.get)
    if name == "time":
        may = kind.may_edit(visit.viewer.actor, lookup.access, lookup)
    else:
        may = name in kind.fields and kind.may_triage(visit.viewer.actor, lookup.access, lookup.project)
    if not may:
        raise NotFound("Page")
    return SidebarField(parent, discussable, kind, name, discussable.ask(kind.endpoints.get))
