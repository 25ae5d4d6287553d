"""Pages whose project is deleted while they are read respond with 404 at every point of the read."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import current_thread

import pytest

from ingot.core.db.connection import Connection
from ingot.projects.projects.queries import existing_project
from ingot.projects.projects.tables import projects
from tests import statements
from tests.client import Make
from tests.conftest import Instance
from tests.git_history import repository_of
from tests.sample_data.addresses import Address, addresses, parts
from tests.sample_data.records import SampleData, open_sample_data
from tests.sample_data.texts import SampleTexts
from tests.web.browser import Browser

STATEMENTS = (3, 8)
"""Number of the statement of a page before which the project is deleted."""


@pytest.fixture(scope="module")
def samples(instance: Instance, make: Make) -> Iterator[SampleData]:
    with open_sample_data(instance, make, SampleTexts(hostile=False)) as samples:
        yield samples


class Deletion:
    """Deletion of the sample project before a certain statement, which can be reverted."""

    def __init__(self, instance: Instance, samples: SampleData, thread: ThreadPoolExecutor) -> None:
        self._instance = instance
        self._project = samples.project
        self._repository = repository_of(instance, samples.project).path
        self._hidden = self._repository.with_suffix(".hidden")
        self._row = instance.app.database.read(lambda db: existing_project(db, samples.project.id))
        self._thread = thread
        self._begin = instance.app.database.engine.begin_statement
        self._writers: set[str] = set()
        self._countdown = 0

    def note(self, statement: str) -> None:
        """Count a statement of a page; delete the project when it is due.

        Transactions do not count: the deletion would wait for a lock of the thread that waits for the deletion.
        """
        thread = current_thread().name
        if statement == self._begin:
            self._writers.add(thread)
        elif statement in ("COMMIT", "ROLLBACK"):
            self._writers.discard(thread)
        elif self._countdown and thread not in self._writers:
            self._countdown -= 1
            if self._countdown == 0:
                self._thread.submit(self._delete).result()

    def before(self, number: int) -> None:
        """Delete the project before the statement with this number."""
        self._countdown = number

    def revert(self) -> bool:
        """Restore the project; return whether it was deleted."""
        self._countdown = 0
        deleted = self._hidden.exists()
        if deleted:
            self._thread.submit(self._restore).result()
        return deleted

    def _delete(self) -> None:
        self._repository.rename(self._hidden)
        self._update(None, f"deleted//{self._project.id}")

    def _restore(self) -> None:
        self._hidden.rename(self._repository)
        self._update(self._row.namespace_id, self._row.full_path.lower())

    def _update(self, namespace_id: int | None, key: str) -> None:
        def update(db: Connection) -> None:
            db.update(projects, self._project.id, namespace_id=namespace_id, full_path_key=key)

        self._instance.app.database.write(update)


@pytest.fixture
def deletion(instance: Instance, samples: SampleData, monkeypatch: pytest.MonkeyPatch) -> Iterator[Deletion]:
    note: Callable[[statements.StatementCounter, str], None] = statements.StatementCounter.note
    with ThreadPoolExecutor(1, "deletion") as thread:
        deletion = Deletion(instance, samples, thread)

        def noted(counter: statements.StatementCounter, statement: str) -> None:
            note(counter, statement)
            if statement != counter.version_statement:
                deletion.note(statement)

        monkeypatch.setattr(statements.StatementCounter, "note", noted)
        yield deletion
        deletion.revert()


def _pages(samples: SampleData) -> list[Address]:
    found = [*addresses(samples), *parts(samples)]
    return [page for page in found if samples.project.path in page.path and page.sent is None]


def test_pages_of_a_project_that_is_deleted_meanwhile(
    instance: Instance, samples: SampleData, deletion: Deletion
) -> None:
    statuses: dict[str, set[int]] = {}
    with Browser(instance.url) as browser, statements.cold_reads():
        browser.signed_in_as(samples.owner)
        for page in _pages(samples):
            for number in STATEMENTS:
                deletion.before(number)
                status = browser.get(page.path).status_code
                if deletion.revert():
                    statuses.setdefault(page.path, set()).add(status)
    assert len(statuses) > 50
    # A page that has read everything it needs may still be shown; others redirect to what they were asked for.
    assert {path: seen for path, seen in statuses.items() if not seen <= {200, 302, 404}} == {}
    assert sum(404 in seen for seen in statuses.values()) > len(statuses) / 2
