"""Project with files of every kind, some with unusual names."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from ingot.git.core.repository import Repository
from tests.client import Make
from tests.conftest import Instance
from tests.factories import Project, make_project
from tests.git_history import History, repository_of

MODULE_ID = "1234567890123456789012345678901234567890"
TEXT = "line one\nline two\nline three\n"
BINARY = bytes(range(256)) * 10
NAMES = [
    "with space.txt",
    "hash#and?query.txt",
    "per%20cent%.txt",
    "a+b&c=d;e.txt",
    "-dash",
    "--output=x",
    ":(top)colon",
    "*star[a-z]?",
    "back\\slash",
    'quo"te',
    "ünï/cödé.txt",
    "🦊.txt",
    "deep/er/and/deeper/file.txt",
    ".hidden/..dots..",
    "caf\udce9/na\udcefve.txt",
    "line\r\nX-Evil: yes",
]
FILES: dict[str, Any] = {
    "README.md": TEXT,
    "empty": b"",
    "binary.bin": BINARY,
    "latin.txt": "naïve café\n".encode("latin-1"),
    "picture.svg": "<svg onload='alert(1)'/>",
    "page.html": "<script>alert(1)</script>",
    "run.sh": ("100755", "#!/bin/sh\n"),
    "link": ("120000", "README.md"),
    "module": ("160000", MODULE_ID),
    **{name: f"This is {name!r}\n" for name in NAMES},
}


@dataclass(frozen=True)
class SampleRepository:
    """Project, repository, and commits by name."""

    project: Project
    repository: Repository
    commits: dict[int, str]

    @property
    def url(self) -> str:
        """Return the API path of the repository."""
        return f"{self.project.url}/repository"

    @property
    def tip(self) -> str:
        """Return the last commit of the default branch."""
        return self.commits[3]


def make_sample(instance: Instance, make: Make, **attributes: Any) -> SampleRepository:
    """Create three commits on ``master``: all files, a change of the first one, and one that leaves it alone."""
    project = make_project(make, **{"visibility": "public", **attributes})
    history = History()
    first = history.commit(files=FILES, message="Begin")
    history.commit(files={"README.md": TEXT.replace("two", "2")}, message="Change")
    history.commit(files={"other.txt": "other\n"}, message="Add")
    history.commit("feature/with/slash", {"only.here": "here\n"}, parents=(first,))
    history.tag("v1", first)
    history.tag("v1-annotated", first, "A tag")
    repository = repository_of(instance, project)
    return SampleRepository(project, repository, history.into(repository))


def in_path(name: str) -> str:
    """Encode a path as one segment of a URL."""
    return quote(as_shown(name), safe="").replace(".", "%2E")


def as_shown(name: str) -> str:
    """Decode a name as the API does: Latin-1 if it is not UTF-8."""
    raw = name.encode("utf-8", "surrogateescape")
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")


HOSTILE_REFS = [
    "--output=/tmp/ingot-pwned",
    "-x",
    "master..feature",
    "../../etc/passwd",
    "master^{/x}",
    "master@{0}",
    ":README.md",
    "master:README.md",
    "refs/heads/../../x",
    "x" * 5000,
    "ünï",
    "",
    " ",
    "0" * 40,
    "deadbeef",
]
