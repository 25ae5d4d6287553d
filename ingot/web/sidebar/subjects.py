"""Issues and merge requests as subjects of the sidebar: their fields and the permissions to change them."""

from collections.abc import Callable
from typing import Any

import msgspec

from ingot.collaboration.issues import policy as issues_policy
from ingot.collaboration.labels.views import LabelBrief, label_briefs_of
from ingot.collaboration.merge_requests import policy as requests_policy
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.errors import NotFound
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

    kind: DiscussableKind
    endpoints: PlannedHandlers
    labelled: str
    """Subject kind under which its labels are stored."""
    facts: tuple[str, ...]
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
    sort: SidebarKind
    fact: str
    item: Any

    @property
    def url(self) -> str:
        """Return the path of the field's form."""
        return f"{self.discussable.url}/facts/{self.fact}"

    @property
    def labels(self) -> list[LabelBrief]:
        """Return the labels with their colors."""
        if not self.item.labels:
            return []
        found = self.parent.visit.database.read(lambda db: label_briefs_of(db, self.sort.labelled, [self.item.id]))
        return found.get(self.item.id, [])

    def now(self) -> "SidebarField":
        """Return the field with the subject read again after a change."""
        return msgspec.structs.replace(self, item=self.discussable.ask(self.sort.endpoints.get))


def find_sidebar_field(visit: Visit, sort: SidebarKind) -> SidebarField:
    """Return the field in the URL; raise NotFound if the viewer may not change it."""
    parent, fact = project_context(visit), visit.request.path["fact"]
    discussable = discussable_in(parent, sort.kind, visit.request.path[sort.kind.path_parameter])
    found = discussable.find(sort.endpoints.get)
    if fact == "time":
        may = sort.may_edit(visit.viewer.actor, found.access, found)
    else:
        may = fact in sort.facts and sort.may_triage(visit.viewer.actor, found.access, found.project)
    if not may:
        raise NotFound("Page")
    return SidebarField(parent, discussable, sort, fact, discussable.ask(sort.endpoints.get))
