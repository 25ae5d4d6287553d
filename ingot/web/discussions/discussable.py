"""What is talked about: where its page is, and where the API has it."""

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import msgspec

from ingot.collaboration.subjects import SubjectAccess
from ingot.web.page_routes import Visit
from ingot.web.projects.context import ProjectContext, project_context


class DiscussableKind(msgspec.Struct, frozen=True):
    """A kind of thing that people talk about, and what can be done with it."""

    name: str
    """What it is called within a sentence."""
    page: str
    """Where its page is, below that of its project."""
    route: str
    """Where the API has it."""
    word: str
    """How the API's path names it."""
    emoji: bool = True
    """Whether people give emoji to it and to notes about it."""
    alone: bool = True
    """Whether a note may stand for itself; else each begins a discussion."""
    follows: bool = False
    """Whether people follow it, and put it on their lists."""
    is_resolvable: bool = False
    """Whether discussions about it are settled."""

    @property
    def address(self) -> str:
        """The address of its page, as pages are declared."""
        return f"/:path/-/{self.page}/:{self.word}"


ISSUE = DiscussableKind("issue", "issues", "/projects/:id/issues/:issue_iid", "issue_iid", follows=True)
MERGE_REQUEST = DiscussableKind(
    "merge request",
    "merge_requests",
    "/projects/:id/merge_requests/:merge_request_iid",
    "merge_request_iid",
    follows=True,
    is_resolvable=True,
)
SNIPPET = DiscussableKind("snippet", "snippets", "/projects/:id/snippets/:snippet_id", "snippet_id")
COMMIT = DiscussableKind("commit", "commit", "/projects/:id/repository/commits/:sha", "sha", emoji=False, alone=False)
DISCUSSABLE_KINDS = (ISSUE, MERGE_REQUEST, SNIPPET, COMMIT)


class Discussable(msgspec.Struct, frozen=True):
    """One thing that a visitor talks about."""

    visit: Visit
    kind: DiscussableKind
    project_id: int
    project_path: str
    number: str

    @property
    def url(self) -> str:
        """Where its page is on this host."""
        return f"/{self.project_path}/-/{self.kind.page}/{quote(self.number, safe='')}"

    def get(self, route: str, sent: dict[str, Any] | None = None, /, **path: Any) -> Any:
        """What the API gives below it."""
        return self.call("GET", route, sent, **path)

    def call(self, method: str, route: str, sent: dict[str, Any] | None = None, /, **path: Any) -> Any:
        """The same for any method."""
        return self.visit.call(method, self.kind.route + route, sent, **self.named(path))

    def may(self, method: str, route: str, /, **path: Any) -> bool:
        """Whether the visitor may do this there."""
        return self.visit.may(method, self.kind.route + route, **self.named(path))

    def reached(self) -> SubjectAccess:
        """It as something that is talked about, and what the visitor may do there."""
        reached: SubjectAccess = self.visit.find("GET", f"{self.kind.route}/discussions", **self.named({}))
        return reached

    def named(self, path: dict[str, Any]) -> dict[str, Any]:
        """What the API's path is filled with."""
        return {"id": self.project_id, self.kind.word: self.number, **path}


def discussable_in(place: ProjectContext, kind: DiscussableKind, number: object) -> Discussable:
    """Something in a project."""
    return Discussable(place.visit, kind, place.project.id, place.project.path_with_namespace, str(number))


def discussable_finder(kind: DiscussableKind) -> Callable[[Visit], Discussable]:
    """Finds what the address of a visit names."""
    return lambda visit: discussable_in(project_context(visit), kind, visit.path[kind.word])
