"""Where in a repository a page is: which branch, tag or commit, and which path of it."""

from typing import NamedTuple
from urllib.parse import quote

from ingot.core.db.connection import Connection
from ingot.errors import NotFound
from ingot.git.core.paths import path_error
from ingot.git.core.repository import Repository
from ingot.git.history.commits import branch_tip, commit_id_or_none
from ingot.projects.projects.api import repository_store
from ingot.projects.projects.code_access import project_repository
from ingot.projects.projects.queries import find_project
from ingot.repositories.context import RepositoryContext as CodePlace
from ingot.repositories.context import may_read_code
from ingot.web.page_routes import Visit
from ingot.web.projects.context import ProjectContext, project_context

_MAX_SEGMENTS = 60


class CodeLocation(NamedTuple):
    """A commit of a project, under the name by which the visitor came, and a path of it."""

    place: ProjectContext
    code: CodePlace
    ref: str
    commit: str
    path: str

    @property
    def repository(self) -> Repository:
        """The project's repository."""
        return self.code.repository

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
        return self.ref if branch_tip(self.repository, self.ref) is not None else None


def readable_code(place: ProjectContext, db: Connection) -> CodePlace:
    """The repository, for those who may read the code."""
    actor = place.visit.actor_or_anonymous
    access, project = find_project(db, actor, place.project.id)
    found = CodePlace(access, project, project_repository(repository_store(place.visit.settings), project))
    if not may_read_code(actor, access, found):
        raise NotFound("Project")
    return found


def code_location(visit: Visit, db: Connection, word: str = "rest") -> CodeLocation:
    """What the rest of the address names; the default branch where it names nothing."""
    place = project_context(visit)
    code = readable_code(place, db)
    return code_location_in(place, code, visit.path.get(word, ""))


def code_location_in(place: ProjectContext, code: CodePlace, rest: str) -> CodeLocation:
    """The same, for a project that is known.

    Names of branches hold slashes as paths do: the longest name that leads to a commit is meant.
    """
    rest = rest.strip("/")
    if not rest:
        rest = code.project.default_branch or "HEAD"
    words = rest.split("/")
    if len(words) > _MAX_SEGMENTS or path_error(rest) is not None:
        raise NotFound("Tree")
    for place_of_path in range(len(words), 0, -1):
        ref = "/".join(words[:place_of_path])
        commit = commit_id_or_none(code.repository, ref)
        if commit is not None:
            return CodeLocation(place, code, ref, commit, "/".join(words[place_of_path:]))
    raise NotFound("Tree")
