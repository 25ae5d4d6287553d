"""Constant statement counts of repository lists."""

import pytest

from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import Project, make_project
from tests.git_history import History
from tests.statements import cold_reads, executed

LISTS = [
    "/projects/:id/pipelines",
    "/projects/:id/protected_branches",
    "/projects/:id/protected_tags",
    "/projects/:id/releases",
    "/projects/:id/releases/tag-0/assets/links",
    "/projects/:id/repository/branches",
    "/projects/:id/repository/commits",
    "/projects/:id/repository/commits/master/comments",
    "/projects/:id/repository/commits/master/diff",
    "/projects/:id/repository/commits/master/refs",
    "/projects/:id/repository/commits/master/statuses",
    "/projects/:id/repository/contributors",
    "/projects/:id/repository/tags",
]
MANY = 5


@pytest.fixture(scope="module")
def project(instance: Instance, make: Make) -> Project:
    """Return a project with several of each listed object."""
    api, project = make.api, make_project(make)
    history = History()
    for number in range(MANY):
        mark = history.commit(files={f"{number}-{file}": "x\n" for file in range(MANY)}, author=f"A <a{number}@b.org>")
        history.tag(f"tag-{number}", mark)
    for number in range(MANY):
        history.commit(f"branch-{number}", files={"more": f"{number}\n"}, parents=(mark,))
    tip = history.fill(instance, project)[mark]
    for number in range(MANY):
        url = f"https://example.org/{number}"
        for path, sent in [
            ("protected_branches", {"name": f"rule-{number}"}),
            ("protected_tags", {"name": f"rule-{number}"}),
            ("releases", {"tag_name": f"tag-{number}", "description": "New"}),
            ("releases/tag-0/assets/links", {"name": f"link-{number}", "url": url}),
            ("repository/commits/master/comments", {"note": "Nice"}),
            (f"statuses/{tip}", {"state": "success", "name": f"job-{number}", "ref": f"branch-{number}"}),
        ]:
            made = api.post(f"/projects/{project.id}/{path}", make.root, **sent)
            assert made.status_code == 201, f"{path}: {made.text}"
    return project


@pytest.mark.parametrize("path", LISTS)
def test_a_longer_page_takes_no_more_statements(
    instance: Instance, api: Api, make: Make, project: Project, path: str
) -> None:
    """Data of the items is read for all at once."""
    database = instance.app.database

    def cost(per_page: int) -> tuple[int, int]:
        """Return the minimum of several calls, because some also read the settings or record the use of a token."""
        costs = []
        for _ in range(4):
            before = executed(database)
            answer = api.get(path.replace(":id", str(project.id)), make.root, per_page=per_page)
            assert answer.status_code == 200, answer.text
            costs.append(executed(database) - before)
        return min(costs), len(answer.json())

    with cold_reads():
        short, _ = cost(1)
        long, items = cost(100)
    assert items > 1
    assert long <= short
