"""Where in a repository a page is: which branch, tag or commit, and which path of it."""

from typing import NamedTuple
from urllib.parse import quote

from ingot.db.connection import Connection
from ingot.errors import NotFound
from ingot.git.commits import branch_tip, commit_id
from ingot.git.paths import path_trouble
from ingot.git.repository import Repository
from ingot.projects.api import store_of
from ingot.projects.code import code_of_project
from ingot.projects.queries import find_project
from ingot.repository.place import Place as CodePlace
from ingot.repository.place import may_read_code
from ingot.web.pages import Visit
from ingot.web.projects.place import Place, place_of

_MOST_WORDS = 60


class Where(NamedTuple):
    """A commit of a project, under the name by which the visitor came, and a path of it."""

    place: Place
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


def code_of(place: Place, db: Connection) -> CodePlace:
    """The repository, for those who may read the code."""
    actor = place.visit.actor_or_nobody
    here, project = find_project(db, actor, place.project.id)
    found = CodePlace(here, project, code_of_project(store_of(place.visit.settings), project))
    if not may_read_code(actor, here, found):
        raise NotFound("Project")
    return found


def where_of(visit: Visit, db: Connection, word: str = "rest") -> Where:
    """What the rest of the address names; the default branch where it names nothing."""
    place = place_of(visit)
    code = code_of(place, db)
    return where_in(place, code, visit.path.get(word, ""))


def where_in(place: Place, code: CodePlace, rest: str) -> Where:
    """The same, for a project that is known.

    Names of branches hold slashes as paths do: the longest name that leads to a commit is meant.
    """
    rest = rest.strip("/")
    if not rest:
        rest = code.project.default_branch or "HEAD"
    words = rest.split("/")
    if len(words) > _MOST_WORDS or path_trouble(rest) is not None:
        raise NotFound("Tree")
    for place_of_path in range(len(words), 0, -1):
        ref = "/".join(words[:place_of_path])
        commit = commit_id(code.repository, ref)
        if commit is not None:
            return Where(place, code, ref, commit, "/".join(words[place_of_path:]))
    raise NotFound("Tree")
