"""Work after reads: results that are stored before the response."""

from functools import partial

from sqlalchemy import bindparam, select

from ingot.core.db.connection import Connection
from ingot.core.errors import Unavailable
from ingot.projects.projects.tables import projects
from tests.client import Make
from tests.factories import make_project

_TEXT = select(projects.c.description).where(projects.c.id == bindparam("project"))


def _describe(db: Connection, project_id: int, text: str) -> None:
    db.update(projects, project_id, description=text)


def _fail(db: Connection) -> None:
    raise Unavailable


def test_work_after_a_read_is_done_when_the_read_ends(make: Make) -> None:
    """A failing write affects neither the response nor the others."""
    project = make_project(make)

    def read(db: Connection) -> str:
        db.after_read(_fail)
        db.after_read(partial(_describe, project_id=project.id, text="found"))
        return "answer"

    assert make.database.read(read) == "answer"
    assert make.database.read(lambda db: db.value(_TEXT, project=project.id)) == "found"
