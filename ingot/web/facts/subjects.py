"""Issues and merge requests as things that are planned: which facts each has, and who may change them."""

from collections.abc import Callable
from typing import Any

import msgspec

from ingot.access.actor import Actor
from ingot.access.levels import Access
from ingot.errors import NotFound
from ingot.issues import policy as issues_policy
from ingot.labels.queries import labels_of
from ingot.labels.views import LabelBrief, label_brief
from ingot.merge_requests import policy as requests_policy
from ingot.projects.tables import Project
from ingot.web.discussions.ground import ISSUE, MERGE_REQUEST, Ground, Kind, ground_in
from ingot.web.pages import Visit
from ingot.web.projects.place import Place, place_of


class Sort(msgspec.Struct, frozen=True):
    """A kind of thing that is planned."""

    kind: Kind
    labelled: str
    """How labels call it."""
    facts: tuple[str, ...]
    may_triage: Callable[[Actor, Access, Project], bool]
    may_edit: Callable[[Actor, Access, Any], bool]


SORTS = (
    Sort(
        ISSUE,
        "issue",
        ("assignees", "labels", "milestone", "due_date", "time"),
        issues_policy.may_triage,
        issues_policy.may_edit_issue,
    ),
    Sort(
        MERGE_REQUEST,
        "merge_request",
        ("assignees", "reviewers", "labels", "milestone", "time"),
        requests_policy.may_triage,
        requests_policy.may_edit_merge_request,
    ),
)


class Subject(msgspec.Struct, frozen=True):
    """One fact of one issue or merge request, for somebody who may change it."""

    place: Place
    ground: Ground
    sort: Sort
    fact: str
    item: Any

    @property
    def url(self) -> str:
        """Where the fact is changed."""
        return f"{self.ground.url}/facts/{self.fact}"

    @property
    def labels(self) -> list[LabelBrief]:
        """What it carries, with colours."""
        if not self.item.labels:
            return []
        found = self.place.visit.database.read(lambda db: labels_of(db, self.sort.labelled, [self.item.id]))
        return [label_brief(label) for label in found.get(self.item.id, [])]

    def now(self) -> "Subject":
        """The same after something has changed."""
        return msgspec.structs.replace(self, item=self.ground.get(""))


def subject_of(visit: Visit, sort: Sort) -> Subject:
    """What the address names; for everybody else there is nothing to change."""
    place, fact = place_of(visit), visit.path["fact"]
    ground = ground_in(place, sort.kind, visit.path[sort.kind.word])
    found = visit.find("GET", sort.kind.route, **ground.named({}))
    if fact == "time":
        may = sort.may_edit(visit.actor, found.here, found)
    else:
        may = fact in sort.facts and sort.may_triage(visit.actor, found.here, found.project)
    if not may:
        raise NotFound("Page")
    return Subject(place, ground, sort, fact, ground.get(""))
