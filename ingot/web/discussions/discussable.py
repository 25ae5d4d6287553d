"""Things that people discuss: where the page of each is, and the endpoints of its discussions."""

from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import quote

import msgspec

from ingot.collaboration.emoji.api import AwardEndpoints
from ingot.collaboration.issues import api as issues_api
from ingot.collaboration.issues.discussions import api as issue_talk_api
from ingot.collaboration.merge_requests import api as merge_requests_api
from ingot.collaboration.merge_requests.discussions import api as merge_request_talk_api
from ingot.collaboration.merge_requests.editing import api as merge_request_upkeep_api
from ingot.collaboration.notes import api as notes_api
from ingot.collaboration.notes.api import DiscussionEndpoints, NoteEndpoints
from ingot.collaboration.notes.views import DiscussionView
from ingot.collaboration.planning.api import PlanningHandlers
from ingot.collaboration.snippets import api as snippets_api
from ingot.collaboration.subjects import SubjectAccess
from ingot.collaboration.todos.views import TodoView
from ingot.core.api.internal_client import P, S, V, WorksOn
from ingot.web.page_routes import Visit
from ingot.web.projects.context import ProjectContext, project_context


class PlannedEndpoints(NamedTuple):
    """Handlers of what people plan and follow: issues and merge requests."""

    get: Callable[..., Any]
    edit: Callable[..., Any]
    add_todo: Callable[..., TodoView]
    planning: PlanningHandlers


class DiscussableKind(msgspec.Struct, frozen=True):
    """A kind of thing that people discuss, with the endpoints of its discussions."""

    name: str
    """What it is called within a sentence."""
    page: str
    """Where its page is, below that of its project."""
    word: str
    """The name of its parameter in the API's paths."""
    discussions: DiscussionEndpoints
    notes: NoteEndpoints | None = None
    """Set where a note may stand for itself; else each begins a discussion."""
    awards: AwardEndpoints | None = None
    """Set where people give emoji to it and to notes about it."""
    planned: PlannedEndpoints | None = None
    """Set where people follow it, and add it to their todos."""
    resolve: Callable[..., DiscussionView] | None = None
    """Set where discussions about it are resolved."""

    @property
    def address(self) -> str:
        """The address of its page, as pages are declared."""
        return f"/:path/-/{self.page}/:{self.word}"


ISSUE_ENDPOINTS = PlannedEndpoints(
    issues_api.get_issue, issues_api.edit_issue, issue_talk_api.add_todo, issues_api.PLANNING
)
MERGE_REQUEST_ENDPOINTS = PlannedEndpoints(
    merge_requests_api.get_merge_request,
    merge_request_upkeep_api.edit_merge_request,
    merge_request_talk_api.add_todo,
    merge_request_upkeep_api.PLANNING,
)
ISSUE = DiscussableKind(
    "issue",
    "issues",
    "issue_iid",
    issue_talk_api.DISCUSSIONS,
    issue_talk_api.NOTES,
    issue_talk_api.AWARDS,
    ISSUE_ENDPOINTS,
)
MERGE_REQUEST = DiscussableKind(
    "merge request",
    "merge_requests",
    "merge_request_iid",
    merge_request_talk_api.DISCUSSIONS,
    merge_request_talk_api.NOTES,
    merge_request_talk_api.AWARDS,
    MERGE_REQUEST_ENDPOINTS,
    merge_request_talk_api.resolve_discussion,
)
SNIPPET = DiscussableKind(
    "snippet", "snippets", "snippet_id", snippets_api.DISCUSSIONS, snippets_api.NOTES, snippets_api.AWARDS
)
COMMIT = DiscussableKind("commit", "commit", "sha", notes_api.COMMIT_DISCUSSIONS)
DISCUSSABLE_KINDS = (ISSUE, MERGE_REQUEST, SNIPPET, COMMIT)


class Discussable(msgspec.Struct, frozen=True):
    """One thing that a visitor discusses."""

    visit: Visit
    kind: DiscussableKind
    project_id: int
    project_path: str
    number: str

    @property
    def url(self) -> str:
        """Where its page is on this host."""
        return f"/{self.project_path}/-/{self.kind.page}/{quote(self.number, safe='')}"

    def ask(self, endpoint: Callable[..., V], sent: dict[str, Any] | None = None, /, **path: object) -> V:
        """Call an endpoint whose path begins with this thing."""
        return self.visit.client.ask(endpoint, sent, self._named(path), "projects")

    def find(self, endpoint: WorksOn[S, P], /, **path: object) -> S:
        """Return the subject that an endpoint finds whose path begins with this thing."""
        return self.visit.client.find(endpoint, self._named(path), "projects")

    def may(self, endpoint: Callable[..., object], /, **path: object) -> bool:
        """Return whether the visitor may call an endpoint whose path begins with this thing."""
        return self.visit.client.may(endpoint, self._named(path), "projects")

    def may_resolve(self) -> bool:
        """Return whether the visitor may resolve discussions here."""
        # The permission is one of all discussions about the thing, so that any number stands for them.
        return self.kind.resolve is not None and self.may(self.kind.resolve, discussion_id="0")

    def reached(self) -> SubjectAccess:
        """Return the subject of the discussions, with what the visitor may do there."""
        reached: SubjectAccess = self.find(self.kind.discussions.list_discussions)
        return reached

    def _named(self, path: dict[str, object]) -> dict[str, object]:
        return {"id": self.project_id, self.kind.word: self.number, **path}


def discussable_in(place: ProjectContext, kind: DiscussableKind, number: object) -> Discussable:
    """Something in a project."""
    return Discussable(place.visit, kind, place.project.id, place.project.path_with_namespace, str(number))


def discussable_finder(kind: DiscussableKind) -> Callable[[Visit], Discussable]:
    """Finds what the address of a visit names."""
    return lambda visit: discussable_in(project_context(visit), kind, visit.request.path[kind.word])
