"""Location of a page in a repository: branch, tag or commit, and path."""

from typing import Any, NamedTuple
from urllib.parse import quote

from ingot.core.errors import NotFound
from ingot.repositories import browser
from ingot.repositories.context import RepositoryContext
from ingot.repositories.trees import api as trees_api
from ingot.repositories.trees.views import archive_name
from ingot.web.page_routes import Visit
from ingot.web.projects.context import ProjectContext, project_context


class CodeLocation(NamedTuple):
    """Commit of a project, the ref name from the URL, and a path."""

    parent: ProjectContext
    repository: Any
    """Repository of the project; only the functions of ``browser`` access it."""
    ref: str
    commit: str
    path: str

    @property
    def resolved_path(self) -> browser.ResolvedPath:
        """Return the commit and the path."""
        return browser.ResolvedPath(self.ref, self.commit, self.path)

    def url(self, page: str, path: str | None = None, ref: str | None = None) -> str:
        """Return the URL of another page for this location, such as its ``tree`` or ``raw``."""
        path = self.path if path is None else path
        rest = quote(ref or self.ref) + (f"/{quote(path)}" if path else "")
        return f"{self.parent.url}/-/{page}/{rest}"

    @property
    def crumbs(self) -> list[tuple[str, str]]:
        """Return the name and path of each parent folder and of the path itself."""
        names = self.path.split("/") if self.path else []
        return [(name, "/".join(names[: index + 1])) for index, name in enumerate(names)]

    @property
    def archives(self) -> list[tuple[str, str]]:
        """Return the archive formats and their URLs."""
        name = archive_name(self.parent.project.path, self.ref)
        return [(kind, self.url("archive", f"{name}.{kind}")) for kind in ("zip", "tar.gz", "tar.bz2", "tar")]

    @property
    def branch(self) -> str | None:
        """Return the branch, or None if the ref is not a branch."""
        return self.ref if browser.has_branch(self.repository, self.ref) else None


def readable_code(parent: ProjectContext) -> RepositoryContext:
    """Return the repository; raise NotFound if the user may not read the code."""
    if not parent.may(trees_api.list_tree):
        raise NotFound("Project")
    return parent.find(trees_api.list_tree)


def code_location(visit: Visit, parameter: str = "rest") -> CodeLocation:
    """Resolve the rest of the URL; if it is empty, use the default branch."""
    parent = project_context(visit)
    return code_location_in(parent, readable_code(parent), visit.request.path.get(parameter, ""))


def code_location_in(parent: ProjectContext, code: RepositoryContext, rest: str) -> CodeLocation:
    """Resolve a branch, tag or commit and a path in a project.

    Branch names may contain slashes, as paths do: the longest name that resolves to a commit is used.
    """
    rest = rest.strip("/") or code.project.default_branch or "HEAD"
    return CodeLocation(parent, code.repository, *browser.locate(code.repository, rest))
