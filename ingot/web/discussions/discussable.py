"""Subjects of discussions: their pages and the endpoints of their discussions."""

from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import quote

import msgspec

from ingot.collaboration.emoji.api import AwardHandlers
from ingot.collaboration.issues import api as issues_api
from ingot.collaboration.issues.discussions import api as issue_discussions_api
from ingot.collaboration.merge_requests import api as merge_requests_api
from ingot.collaboration.merge_requests.discussions import api as merge_request_discussions_api
from ingot.collaboration.merge_requests.editing import api as merge_request_editing_api
from ingot.collaboration.notes import api as notes_api
from ingot.collaboration.notes.api import DiscussionHandlers, NoteHandlers
from ingot.collaboration.notes.views import DiscussionView
from ingot.collaboration.planning.api import PlanningHandlers
from ingot.collaboration.snippets import api as snippets_api
from ingot.collaboration.subjects import SubjectAccess
from ingot.collaboration.todos.views import TodoView
from ingot.core.api.internal_client import P, S, V, WorksOn
from ingot.web.page_routes import Visit
from ingot.web.projects.context import ProjectContext, project_context


class PlannedHandlers(NamedTuple):
    """Endpoints of planning and subscriptions, for issues and merge requests."""

    get: Callable[..., Any]
    edit: Callable[..., Any]
    add_todo: Callable[..., TodoView]
    planning: PlanningHandlers


class DiscussableKind(msgspec.Struct, frozen=True):
    """Kind of subject, with the endpoints of its discussions."""

    name: str
    """Name within a sentence."""
    page: str
    """Path of its page relative to the project."""
    path_parameter: str
    """Name of its path parameter in the API."""
    discussions: DiscussionHandlers
    notes: NoteHandlers | None = None
    """Set if notes can be written outside discussions; otherwise each note starts a discussion."""
    awards: AwardHandlers | None = None
    """Set if the subject and its notes can have award emoji."""
    planned: PlannedHandlers | None = None
    """Set if users can subscribe to it and add it to their to-do list."""
    resolve: Callable[..., DiscussionView] | None = None
    """Set if its discussions can be resolved."""

    @property
    def route(self) -> str:
        """Return the route pattern of its page."""
        return f"/:path/-/{self.page}/:{self.path_parameter}"


ISSUE_ENDPOINTS = PlannedHandlers(
    issues_api.get_issue, issues_api.edit_issue, issue_discussions_api.add_todo, issues_api.PLANNING
)
MERGE_REQUEST_ENDPOINTS = PlannedHandlers(
    merge_requests_api.get_merge_request,
    merge_request_editing_api.edit_merge_request,
    merge_request_discussions_api.add_todo,
    merge_request_editing_api.PLANNING,
)
ISSUE = DiscussableKind(
    "issue",
    "issues",
    "issue_iid",
    issue_discussions_api.DISCUSSIONS,
    issue_discussions_api.NOTES,
    issue_discussions_api.AWARDS,
    ISSUE_ENDPOINTS,
)
MERGE_REQUEST = DiscussableKind(
    "merge request",
    "merge_requests",
    "merge_request_iid",
    merge_request_discussions_api.DISCUSSIONS,
    merge_request_discussions_api.NOTES,
    merge_request_discussions_api.AWARDS,
    MERGE_REQUEST_ENDPOINTS,
    merge_request_discussions_api.resolve_discussion,
)
SNIPPET = DiscussableKind(
    "snippet", "snippets", "snippet_id", snippets_api.DISCUSSIONS, snippets_api.NOTES, snippets_api.AWARDS
)
COMMIT = DiscussableKind("commit", "commit", "sha", notes_api.COMMIT_DISCUSSIONS)
_DEFAULT_AWARDS = ("thumbsup", "thumbsdown")
DISCUSSABLE_KINDS = (ISSUE, MERGE_REQUEST, SNIPPET, COMMIT)


class Discussable(msgspec.Struct, frozen=True):
    """Subject of a discussion as seen by one viewer."""

    visit: Visit
    kind: DiscussableKind
    project_id: int
    project_path: str
    number: str
    url: str
    """Path of its page."""
    default_awards: tuple[str, ...] = ()
    """Emoji that its page offers before anybody has awarded them."""

    def ask(self, endpoint: Callable[..., V], params: dict[str, Any] | None = None, /, **path: object) -> V:
        """Call an endpoint whose path starts with this subject."""
        return self.visit.client.ask(endpoint, params, self._path_params(path), "projects")

    def find(self, endpoint: WorksOn[S, P], /, **path: object) -> S:
        """Return the subject that an endpoint finds whose path starts with this subject."""
        return self.visit.client.find(endpoint, self._path_params(path), "projects")

    def may(self, endpoint: Callable[..., object], /, **path: object) -> bool:
        """Return whether the viewer may call an endpoint whose path starts with this subject."""
        return self.visit.client.may(endpoint, self._path_params(path), "projects")

    def may_resolve(self) -> bool:
        """Return whether the viewer may resolve discussions here."""
        return self.subject_access().may_resolve

    def subject_access(self) -> SubjectAccess:
        """Return the subject of the discussions, with the viewer's access to it."""
        access: SubjectAccess = self.find(self.kind.discussions.list_discussions)
        return access

    def _path_params(self, path: dict[str, object]) -> dict[str, object]:
        return {"id": self.project_id, self.kind.path_parameter: self.number, **path}


def discussable_in(parent: ProjectContext, kind: DiscussableKind, number: object) -> Discussable:
    """Return a subject of a project."""
    path = parent.project.path_with_namespace
    url = f"/{path}/-/{kind.page}/{quote(str(number), safe='')}"
    offers: bool = parent.project.show_default_award_emojis  # type: ignore[attr-defined]  # Declared as an option.
    default_awards = _DEFAULT_AWARDS if offers and kind.awards is not None else ()
    return Discussable(parent.visit, kind, parent.project.id, path, str(number), url, default_awards)


def discussable_finder(kind: DiscussableKind) -> Callable[[Visit], Discussable]:
    """Return a function that finds the subject in the URL of a request."""
    return lambda visit: discussable_in(project_context(visit), kind, visit.request.path[kind.path_parameter])
