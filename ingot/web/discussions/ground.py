"""What is talked about: where its page is, and where the API has it."""

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import msgspec

from ingot.subjects import Reached
from ingot.web.pages import Visit
from ingot.web.projects.place import Place, place_of


class Kind(msgspec.Struct, frozen=True):
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
    resolves: bool = False
    """Whether discussions about it are settled."""

    @property
    def address(self) -> str:
        """The address of its page, as pages are declared."""
        return f"/:path/-/{self.page}/:{self.word}"


ISSUE = Kind("issue", "issues", "/projects/:id/issues/:issue_iid", "issue_iid", follows=True)
MERGE_REQUEST = Kind(
    "merge request",
    "merge_requests",
    "/projects/:id/merge_requests/:merge_request_iid",
    "merge_request_iid",
    follows=True,
    resolves=True,
)
SNIPPET = Kind("snippet", "snippets", "/projects/:id/snippets/:snippet_id", "snippet_id")
COMMIT = Kind("commit", "commit", "/projects/:id/repository/commits/:sha", "sha", emoji=False, alone=False)
KINDS = (ISSUE, MERGE_REQUEST, SNIPPET, COMMIT)


class Ground(msgspec.Struct, frozen=True):
    """One thing that a visitor talks about."""

    visit: Visit
    kind: Kind
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

    def reached(self) -> Reached:
        """It as something that is talked about, and what the visitor may do there."""
        reached: Reached = self.visit.find("GET", f"{self.kind.route}/discussions", **self.named({}))
        return reached

    def named(self, path: dict[str, Any]) -> dict[str, Any]:
        """What the API's path is filled with."""
        return {"id": self.project_id, self.kind.word: self.number, **path}


def ground_in(place: Place, kind: Kind, number: object) -> Ground:
    """Something in a project."""
    return Ground(place.visit, kind, place.project.id, place.project.path_with_namespace, str(number))


def ground_of(kind: Kind) -> Callable[[Visit], Ground]:
    """Finds what the address of a visit names."""
    return lambda visit: ground_in(place_of(visit), kind, visit.path[kind.word])
