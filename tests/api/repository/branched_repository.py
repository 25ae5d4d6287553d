"""Project with branches, a merge and tags, for read tests."""

from tests.conftest import Instance
from tests.factories import Project
from tests.git_history import History, repository_of, run

START = 1_500_000_000


class BranchedRepository:
    """Commits by name, and the output of git."""

    def __init__(self, instance: Instance, project: Project) -> None:
        self.project = project
        self.repository = repository_of(instance, project)
        made = History()
        first = made.commit(files={"a.txt": "1\n", "lib/x.py": "1\n"}, message="Begin", at=START)
        side = made.commit("side/ünï", {"b.txt": "1\n"}, "Side", parents=(first,), author="Bob <bob@example.org>")
        main = made.commit(files={"a.txt": "1\n2\n"}, message="Main", parents=(first,))
        merge = made.commit(files={"b.txt": "1\n"}, message="Merge", parents=(main, side))
        last = made.commit(files={"lib/x.py": ""}, message="Last\n\nWhy it is.\n")
        ahead = made.commit("ahead", {"c": "1\n"}, "Ahead", parents=(last,))
        made.tag("v1", merge, "One")
        made.tag("v2", ahead)
        ids = made.fill(instance, project)
        self.first, self.side, self.main, self.merge, self.last, self.ahead = (
            ids[mark] for mark in (first, side, main, merge, last, ahead)
        )

    def log(self, *args: str) -> list[str]:
        """Return the titles listed by git log."""
        return run(self.repository.path, "log", "--format=%s", *args).split("\n")
