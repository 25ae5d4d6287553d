"""Where in a repository a page is: which branch, tag or commit, and which path of it."""

from typing import Any, NamedTuple
from urllib.parse import quote

from ingot.errors import NotFound
from ingot.repositories import browser
from ingot.repositories.context import RepositoryContext as CodePlace
from ingot.repositories.trees import api as trees_api
from ingot.web.page_routes import Visit
from ingot.web.projects.context import ProjectContext, project_context


class CodeLocation(NamedTuple):
    """A commit of a project, under the name by which the visitor came, and a path of it."""

    place: ProjectContext
    repository: Any
    """The project's repository, which only the functions of ``browser`` look into."""
    ref: str
    commit: str
    path: str

    @property
    def location(self) -> browser.CodeLocation:
        """The commit and the path."""
        return browser.CodeLocation(self.ref, self.commit, self.path)

    def url(self, word: str, path: str | None = None, ref: str | None = None) -> str:
        """The address of a page of this place, such as its ``tree`` or ``raw``."""
        path = self.path if path is None else path
        rest = quote(ref or self.ref) + (f"/{quote(path)}" if path else "")
        return f"{self.place.url}/-/{word}/{rest}"

    @property
    def crumbs(self) -> list[tuple[str, str]]:
        """The folders on the way to the path, and itself: their names and their paths."""
        words = self.path.split("/") if self.path else []
        return [(word, "/".join(words[: place + 1])) for place, word in enumerate(words)]

    @property
    def archives(self) -> list[tuple[str, str]]:
        """What all of it can be had as, and where."""
        name = f"{self.place.project.path}-{self.ref.replace('/', '-')}"
        return [(kind, self.url("archive", f"{name}.{kind}")) for kind in ("zip", "tar.gz", "tar.bz2", "tar")]

    @property
    def branch(self) -> str | None:
        """The branch, where the name is one."""
        return self.ref if browser.has_branch(self.repository, self.ref) else None


def readable_code(place: ProjectContext) -> CodePlace:
    """Find the repository; raise NotFound where the visitor may not read the code."""
    if not place.may(trees_api.list_tree):
        raise NotFound("Project")
    return place.find(trees_api.list_tree)


def code_location(visit: Visit, word: str = "rest") -> CodeLocation:
    """Find what the rest of the address names; the default branch where it names nothing."""
    place = project_context(visit)
    return code_location_in(place, readable_code(place), visit.request.path.get(word, ""))


def code_location_in(place: ProjectContext, code: CodePlace, rest: str) -> CodeLocation:
    """Find a branch, tag or commit and a path of a project at hand.

    Names of branches hold slashes as paths do: the longest name that leads to a commit is taken.
    """
    rest = rest.strip("/") or code.project.default_branch or "HEAD"
    return CodeLocation(place, code.repository, *browser.locate(code.repository, rest))
