"""Revision expressions such as ``master~2``, wherever a branch, tag or commit can be named."""

from urllib.parse import quote

import httpx
import pytest

from tests.api.repository.branched_repository import BranchedRepository
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import make_project
from tests.git_history import History, run
from tests.roles import UsersByRole, project_with


@pytest.fixture(scope="module")
def branched(instance: Instance, make: Make) -> BranchedRepository:
    """Return a public project."""
    return BranchedRepository(instance, make_project(make, visibility="public"))


EXPRESSIONS = ["ahead~2", "ahead~", "HEAD^", "HEAD~0", "ahead^^", "ahead~1^0", "@~1", "v1^2", "v1^2^", "v1~1^{commit}"]
EXPRESSIONS += ["v1^{commit}", "v2^{}", "refs/tags/v1~1", "side/ünï^{commit}"]
NOTHING = [
    "ahead~100",
    "ahead^9",
    "ahead~99999",
    "ahead~100000",
    "nothing~1",
    "~1",
    "^ahead",
    "ahead..v1",
    "ahead...v1",
]
NOTHING += [
    "ahead^{tree}",
    "ahead^{/Last}",
    ":/Last",
    "ahead@{1}",
    "@{-1}~1",
    "ahead~1:a.txt",
    "-x~1",
    "ahead~-1",
    "ahead~1 ",
]
NOTHING += [
    "ahead^{commit",
    "ahead^!",
    "ahead^@",
    "ahead^-1",
    "ahead~¹",
    "ahead" + "~" * 10_001,
    "ahead~0:",
    "ahead~1\n",
]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_expressions(instance: Instance, api: Api, make: Make, branched: BranchedRepository, expression: str) -> None:
    """As git resolves them, in commits, trees, files, blame, archives, comparisons, merge bases and pages."""
    folder = branched.repository.path
    oid = run(folder, "rev-parse", f"{expression.removesuffix('^{}')}^{{commit}}")
    url = f"/projects/{branched.project.id}/repository"
    name = quote(expression, safe="")

    assert api.get(f"{url}/commits/{name}", make.root).json()["id"] == oid
    assert api.get(f"{url}/commits", make.root, ref_name=expression).json()[0]["id"] == oid
    tree = api.get(f"{url}/tree", ref=expression)
    assert tree.json() == api.get(f"{url}/tree", ref=oid).json()
    path = next(entry["path"] for entry in tree.json() if entry["type"] == "blob")
    file = f"{url}/files/{quote(path, safe='')}"
    assert api.get(file, make.root, ref=expression).json()["commit_id"] == oid
    for part in ("/raw", "/blame"):
        assert (
            api.get(f"{file}{part}", make.root, ref=expression).content
            == api.get(f"{file}{part}", make.root, ref=oid).content
        )
    assert oid in api.get(f"{url}/archive.tar", sha=expression).headers["content-disposition"]
    assert api.get(f"{url}/compare", make.root, **{"from": expression, "to": oid}).json()["compare_same_ref"] is True
    assert api.get(f"{url}/merge_base", make.root, **{"refs[]": [expression, oid]}).json()["id"] == oid
    page = f"{instance.url}/{branched.project.path}/-"
    raw = httpx.get(f"{page}/raw/{quote(expression)}/{quote(path)}")
    assert (raw.status_code, raw.content) == (200, api.get(f"{file}/raw", make.root, ref=oid).content)


@pytest.mark.parametrize("expression", NOTHING)
def test_other_texts_denote_no_commit(api: Api, make: Make, branched: BranchedRepository, expression: str) -> None:
    """Ranges, options, searches, reflogs, paths, other objects, and walks beyond the limit."""
    url = f"/projects/{branched.project.id}/repository"
    if len(expression) < 1000:
        assert api.get(f"{url}/commits/{quote(expression, safe='')}", make.root).status_code == 404
    assert api.get(f"{url}/tree", ref=expression).status_code == 404


def test_expressions_show_no_hidden_commit(instance: Instance, api: Api, make: Make, roles: UsersByRole) -> None:
    """Commits of a merge request, if merge requests are disabled; the same rule as for the id."""
    project = project_with(make, roles, visibility="public")
    history = History()
    first = history.commit(files={"a": "a\n"})
    marks = history.commit("topic", {"a": "b\n"}, parents=(first,)), history.commit("topic", {"a": "c\n"})
    oids = history.fill(instance, project)
    hidden, above = (oids[mark] for mark in marks)
    sent = {"source_branch": "topic", "target_branch": "master", "title": "Topic"}
    assert api.post(f"/projects/{project.id}/merge_requests", roles.owner, **sent).status_code == 201
    url = f"/projects/{project.id}/repository"
    names = [hidden, f"{above}~1", f"{above[:10]}^"]
    assert [api.get(f"{url}/commits/{quote(name)}", make.user()).status_code for name in names] == [200] * 3
    assert api.delete(f"{url}/branches/topic", roles.owner).is_success
    assert api.put(f"/projects/{project.id}", roles.owner, merge_requests_enabled=False).status_code == 200

    assert [api.get(f"{url}/commits/{quote(name)}", make.user()).status_code for name in names] == [404] * 3
    assert api.get(f"{url}/commits/{quote(f'{above}~2')}", make.user()).status_code == 404
