"""Lists of imports need no more statements for longer pages."""

import pytest

from tests.api.imports.conftest import ImportingInstance, SourceProject
from tests.statements import executed


@pytest.mark.parametrize("path", ["/bulk_imports", "/bulk_imports/entities", "/placeholder_users"])
def test_longer_pages_need_no_more_statements(
    importing: ImportingInstance, source_project: SourceProject, path: str
) -> None:
    """The numbers of failures and the users are read for the whole page."""
    for _ in range(2):
        importing.import_project(source_project.path, "listed")
    database = importing.second.app.database

    def cost(per_page: int) -> tuple[int, int]:
        costs = []
        for _ in range(4):
            before = executed(database)
            answer = importing.api.get(path, importing.root, per_page=per_page)
            costs.append(executed(database) - before)
        return min(costs), len(answer.json())

    short, _ = cost(1)
    long, items = cost(100)
    assert items > 1
    # The second statement of a short page counts the rest of the list.
    assert long <= short
