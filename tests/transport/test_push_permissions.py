"""``git push -o`` with tokens that have fine-grained permissions."""

from typing import Any

import pytest

from tests.api.users.test_granular_tokens import fine_token, selected
from tests.ci.pipelines.files import list_pipelines
from tests.client import Make, User
from tests.conftest import Instance
from tests.factories import Project, make_group, make_project
from tests.transport.conftest import Tree, over_http

_PUSH = ("read_repository", "update_repository")
_CONFIGURATION = "unit: {script: make}\n"


@pytest.fixture
def user(make: Make) -> User:
    """Return a user."""
    return make.user()


@pytest.fixture
def project(instance: Instance, make: Make, user: User, tree: Tree) -> Project:
    """Return a project with a configuration of pipelines on its default branch."""
    project = make_project(make, user, default_branch="master")
    tree.commit(".gitlab-ci.yml", _CONFIGURATION)
    tree.git("push", "-q", over_http(instance, project, user), "master")
    return project


def _merge_requests(make: Make, user: User, project: Project) -> list[dict[str, Any]]:
    answer = make.api.get(f"{project.url}/merge_requests", user)
    assert answer.status_code == 200
    found: list[dict[str, Any]] = answer.json()
    return found


def test_options_for_merge_requests_need_its_permissions(
    instance: Instance, make: Make, user: User, project: Project, tree: Tree
) -> None:
    def push(permissions: tuple[str, ...], *options: str) -> str:
        tree.commit("a", "\n".join((*permissions, *options)))
        token = fine_token(make, user, selected(project, *_PUSH, *permissions)).token
        sent = [part for option in options for part in ("-o", f"merge_request.{option}")]
        return tree.stderr("push", *sent, over_http(instance, project, user, token), "topic")

    tree.git("checkout", "-q", "-b", "topic")
    for permissions in ((), ("update_merge_request",), ("read_merge_request",)):
        refused = push(permissions, "create", "title=One")
        assert "The token lacks the permission create_merge_request." in refused
    assert _merge_requests(make, user, project) == []
    made = push(("create_merge_request",), "create", "title=One")
    assert "WARNINGS" not in made and f"/{project.path}/-/merge_requests/1" in made
    for options in (("create", "title=Two"), ("title=Two",), ("create", "auto_merge")):
        assert "lacks the permission update_merge_request" in push(("create_merge_request",), *options)
    (merge_request,) = _merge_requests(make, user, project)
    assert (merge_request["title"], merge_request["state"]) == ("One", "opened")
    assert "WARNINGS" not in push(("update_merge_request",), "title=Two", "label=fast")
    (merge_request,) = _merge_requests(make, user, project)
    assert (merge_request["title"], merge_request["labels"]) == ("Two", ["fast"])


def test_the_target_project_is_within_the_boundary(
    instance: Instance, make: Make, user: User, project: Project, tree: Tree
) -> None:
    answer = make.api.post(
        f"{project.url}/fork", user, path=f"fork-of-{project.name}", namespace=make_group(make, user).path
    ).json()
    fork = Project(answer["id"], answer["path_with_namespace"], answer["name"], answer["namespace"]["id"])
    tree.git("checkout", "-q", "-b", "topic")
    options = ["-o", "merge_request.create", "-o", f"merge_request.target_project={project.path}"]
    inside = selected(fork, *_PUSH, "create_merge_request")
    for scopes, number in (((inside,), 0), ((inside, selected(project, "create_merge_request")), 1)):
        tree.commit("b", str(scopes))
        url = over_http(instance, fork, user, fine_token(make, user, *scopes).token)
        assert ("not found" in tree.stderr("push", *options, url, "topic")) == (not number)
        assert len(_merge_requests(make, user, project)) == number


def test_variables_of_pipelines_need_the_permission_to_create_them(
    instance: Instance, make: Make, user: User, project: Project, tree: Tree
) -> None:
    for permissions, status in (((), "failed"), (("create_pipeline",), "pending")):
        tree.commit("c", str(permissions))
        token = fine_token(make, user, selected(project, *_PUSH, *permissions)).token
        url = over_http(instance, project, user, token)
        # The server alone says what a token may do.
        forged = "token.restrictions={}"
        tree.git("push", "-q", "-o", "ci.variable=A=b", "-o", forged, url, "master")
        newest = list_pipelines(make, project)[0]
        assert newest["status"] == status
        pipeline = make.api.get(f"{project.url}/pipelines/{newest['id']}", user).json()
        assert bool(pipeline["yaml_errors"]) == (status == "failed")
