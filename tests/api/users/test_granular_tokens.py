"""Tokens with fine-grained permissions: resources and actions within projects and groups."""

import re
from pathlib import Path
from typing import Any

import httpx
import pytest

from ingot.core.access.restrictions import GRANULAR
from ingot.core.api.granular_permissions import all_permissions, permission_of
from ingot.server.registry import all_endpoints
from tests.client import Make, User
from tests.conftest import Instance
from tests.factories import Project, make_group, make_project
from tests.mcp.client import Agent

_PARAMETER = re.compile(r":\w+")


def _created(make: Make, user: User, *scopes: dict[str, Any], **fields: Any) -> httpx.Response:
    sent = {"name": "fine", "granular_scopes": list(scopes), **fields}
    return make.api.post(f"/users/{user.id}/personal_access_tokens", make.root, **sent)


def fine_token(make: Make, user: User, *scopes: dict[str, Any]) -> User:
    """Return the user with a new token that has fine-grained permissions."""
    made = _created(make, user, *scopes)
    assert made.status_code == 201, made.text
    return user.with_token(made.json()["token"])


def selected(project: Project, *permissions: str) -> dict[str, Any]:
    """Return permissions in one project."""
    return {"access": "selected_memberships", "project_ids": [project.id], "permissions": permissions}


@pytest.fixture
def user(make: Make) -> User:
    """Return a user."""
    return make.user()


def test_permissions_are_those_of_a_project(make: Make, user: User) -> None:
    project, other = (make_project(make, user, initialize_with_readme=True) for _ in range(2))
    for each in (project, other):
        assert make.api.post(f"{each.url}/issues", user, title="One").status_code == 201
    reader = fine_token(make, user, selected(project, "read_issue", "create_issue_note"))
    assert make.api.get(f"{project.url}/issues/1", reader).json()["title"] == "One"
    assert make.api.post(f"{project.url}/issues/1/notes", reader, body="Hello").status_code == 201
    for method, path in (
        ("PUT", f"{project.url}/issues/1"),
        ("DELETE", f"{project.url}/issues/1"),
        ("GET", project.url),
        ("GET", f"{project.url}/merge_requests"),
        ("GET", "/issues"),
        ("GET", "/projects"),
        ("GET", "/user"),
        ("POST", "/user/personal_access_tokens"),
    ):
        refused = make.api.request(method, path, reader)
        assert refused.status_code == 403 and "insufficient_scope" in refused.text, (method, path, refused.text)
    assert make.api.get(f"{other.url}/issues/1", reader).status_code == 404
    assert make.api.get("/personal_access_tokens/self", reader).json()["scopes"] == [GRANULAR]
    (shown,) = make.api.get("/personal_access_tokens/self", reader).json()["granular_scopes"]
    assert (shown["access"], shown["project_id"], shown["group_id"]) == ("selected_memberships", project.id, None)


def test_a_token_never_exceeds_its_user(make: Make, user: User) -> None:
    project = make_project(make, visibility="private")
    reader = fine_token(make, user, selected(project, "read_issue", "read_project", "update_project"))
    assert make.api.get(project.url, reader).status_code == 404
    public = make_project(make, visibility="public")
    editor = fine_token(make, user, selected(public, "read_project", "update_project"))
    assert make.api.get(public.url, editor).status_code == 200
    assert make.api.put(public.url, editor, description="x").status_code == 403


def test_a_group_contains_its_descendants(make: Make, user: User) -> None:
    group = make_group(make, user)
    below = make_group(make, user, parent_id=group.id)
    inside, outside = make_project(make, user, namespace_id=below.id), make_project(make, user)
    scope = {"access": "selected_memberships", "group_ids": [group.id], "permissions": ["read_project", "read_group"]}
    reader = fine_token(make, user, scope)
    assert make.api.get(inside.url, reader).status_code == 200
    assert make.api.get(f"/groups/{below.id}", reader).status_code == 200
    assert make.api.get(outside.url, reader).status_code == 404
    assert make.api.get(f"/groups/{make_group(make, user).id}", reader).status_code == 404


def test_boundaries(make: Make, user: User) -> None:
    own = make_project(make, user)
    in_group = make_project(make, user, namespace_id=make_group(make, user).id)
    public = make_project(make, visibility="public")
    cases = {"personal_projects": [200, 404, 404], "all_memberships": [200, 200, 404]}
    for access, expected in cases.items():
        reader = fine_token(make, user, {"access": access, "permissions": ["read_project"]})
        assert [make.api.get(each.url, reader).status_code for each in (own, in_group, public)] == expected
        assert make.api.get("/projects", reader).status_code == 403
    reader = fine_token(make, user, {"access": "user", "permissions": ["read_user"]})
    assert make.api.get("/user", reader).json()["username"] == user.username
    assert make.api.get(own.url, reader).status_code == 403
    reader = fine_token(make, user, {"access": "instance", "permissions": ["read_project"]})
    assert make.api.get("/projects", reader).status_code == 200
    assert make.api.get(own.url, reader).status_code == 403


def test_cross_references_stay_within_the_boundary(make: Make, user: User) -> None:
    project, other = (make_project(make, user) for _ in range(2))
    make.api.post(f"{project.url}/issues", user, title="Moves")
    writer = fine_token(make, user, selected(project, "update_issue", "create_issue_link"))
    moved = make.api.post(f"{project.url}/issues/1/move", writer, to_project_id=other.id)
    assert moved.status_code in (400, 404), moved.text
    both = {"access": "selected_memberships", "project_ids": [project.id, other.id], "permissions": ["update_issue"]}
    assert (
        make.api.post(f"{project.url}/issues/1/move", fine_token(make, user, both), to_project_id=other.id).status_code
        == 201
    )


def test_git_and_lfs(instance: Instance, make: Make, user: User, tmp_path: Path) -> None:
    project, other = (make_project(make, user, initialize_with_readme=True) for _ in range(2))
    read, push = "read_repository", "update_repository"
    cases = (
        ((read, push), project, 200, 200),
        ((read,), project, 200, 403),
        ((push,), project, 404, 404),
        (("read_issue",), project, 404, 404),
        ((read, push), other, 404, 404),
    )
    for permissions, target, fetches, pushes in cases:
        token = fine_token(make, user, selected(project, *permissions)).token
        for service, expected in (("git-upload-pack", fetches), ("git-receive-pack", pushes)):
            url = f"{instance.url}/{target.path}.git/info/refs?service={service}"
            answer = httpx.get(url, auth=(user.username, token))
            assert answer.status_code == expected, (permissions, service, answer.text)
    batch = {"operation": "download", "objects": [{"oid": "a" * 64, "size": 1}]}
    headers = {"Accept": "application/vnd.git-lfs+json", "Content-Type": "application/vnd.git-lfs+json"}
    for permissions, status in (((read,), 200), (("read_issue",), 404)):
        token = fine_token(make, user, selected(project, *permissions)).token
        url = f"{instance.url}/{project.path}.git/info/lfs/objects/batch"
        assert httpx.post(url, json=batch, headers=headers, auth=(user.username, token)).status_code == status


def test_graphql_pages_and_packages(instance: Instance, make: Make, user: User) -> None:
    project = make_project(make, user, initialize_with_readme=True, visibility="private")
    token = fine_token(make, user, selected(project, "read_project", "read_file", "update_package"))
    bearer = {"Authorization": f"Bearer {token.token}"}
    graphql = httpx.post(f"{instance.url}/api/graphql", json={"query": "{ currentUser { id } }"}, headers=bearer)
    assert graphql.status_code in (401, 403), graphql.text
    raw = httpx.get(f"{instance.url}/{project.path}/-/raw/master/README.md", params={"private_token": token.token})
    assert raw.status_code in (302, 401, 403, 404)
    path = "/packages/generic/tool/1.0/tool.txt"
    permission, place = permission_of("PUT", "/projects/:id/packages/generic/:package_name/:package_version/:file_name")
    assert (permission, place) == ("update_package", "project")
    for name, status in (("update_package", 201), ("read_package", 403)):
        header = {"PRIVATE-TOKEN": fine_token(make, user, selected(project, name)).token}
        answer = httpx.put(f"{instance.url}/api/v4{project.url}{path}", content=b"x", headers=header)
        assert answer.status_code == status, answer.text


def test_agents_have_the_tools_that_the_permissions_cover(instance: Instance, make: Make, user: User) -> None:
    project, other = (make_project(make, user) for _ in range(2))
    agent = Agent(instance, fine_token(make, user, selected(project, "read_issue", "create_issue")))
    assert agent.tools().keys() == {"get_issue", "list_issues", "create_issue"}
    assert agent.get("create_issue", id=project.path, title="One")["iid"] == 1
    refused = agent.call("create_issue", id=other.path, title="One")
    assert refused["isError"] and "404" in refused["content"][0]["text"]


def test_requests_are_validated(make: Make, user: User) -> None:
    project = make_project(make, user)
    scope = selected(project, "read_issue")
    for scopes in (
        [],
        [{**scope, "permissions": []}],
        [{**scope, "permissions": ["read_nonsense"]}],
        [{**scope, "access": "everywhere"}],
        [{**scope, "access": "user"}],
        [{**scope, "project_ids": []}],
        [{**scope, "access": "all_memberships"}],
        [{**scope, "project_ids": ["x"]}],
        [{**scope, "project_ids": list(range(1, 102))}],
        [{**scope, "access": "user", "project_ids": [], "permissions": ["read_issue"]}],
        [scope] * 21,
        ["nonsense"],
    ):
        refused = _created(make, user, *scopes)
        assert refused.status_code == 400, (scopes, refused.text)
    assert _created(make, user, scope, scopes=["api"]).status_code == 400
    sent = {"name": "none"}
    assert make.api.post(f"/users/{user.id}/personal_access_tokens", make.root, **sent).status_code == 400


def test_the_request_is_described(make: Make) -> None:
    document = make.api.get("/openapi.json").json()
    schemas = document["components"]["schemas"]
    sent = document["paths"]["/users/{user_id}/personal_access_tokens"]["post"]["requestBody"]["content"]
    text = str(sent) + str(schemas)
    for name in ("all_memberships", "selected_memberships", "project_ids", "group_ids"):
        assert name in text, name


def test_permissions_of_the_instance_reach_all_projects_of_the_user(make: Make, user: User) -> None:
    """As docs/sign-in.md says: lists without a project in their path are not limited to projects."""
    mine, hidden = make_project(make, user), make_project(make)
    for project, author in ((mine, user), (hidden, make.root)):
        assert make.api.post(f"{project.url}/issues", author, title="One").status_code == 201
    reader = fine_token(make, user, {"access": "instance", "permissions": ["read_issue"]})
    listed = make.api.get("/issues", reader, scope="all").json()
    assert mine.id in {each["project_id"] for each in listed} and hidden.id not in {
        each["project_id"] for each in listed
    }
    assert make.api.get(f"{mine.url}/issues", reader).status_code == 403


def test_a_token_rotates_itself_and_passes_nothing_on(make: Make, user: User) -> None:
    scope = {"access": "user", "permissions": ["update_personal_access_token"]}
    holder = fine_token(make, user, scope)
    other = make.api.get("/personal_access_tokens", user).json()
    stronger = _created(make, user, {"access": "all_memberships", "permissions": ["delete_project"]}).json()
    assert make.api.post(f"/personal_access_tokens/{stronger['id']}/rotate", holder).status_code == 403
    assert all(each["id"] != stronger["id"] for each in other)
    rotated = make.api.post("/personal_access_tokens/self/rotate", holder)
    assert rotated.status_code in (200, 403), rotated.text


def test_everything_is_denied_by_default(make: Make, user: User) -> None:
    """A token with one permission is refused by each operation that needs another one."""
    holder = fine_token(make, user, {"access": "user", "permissions": ["read_user"]})
    checked = 0
    for endpoint in all_endpoints():
        permission, place = permission_of(endpoint.method, endpoint.path)
        assert permission in all_permissions() and re.fullmatch(r"(read|create|update|delete)_[a-z0-9_]+", permission)
        no_token = endpoint.runner_call or endpoint.header_params
        if no_token or GRANULAR in endpoint.scopes or (permission, place) == ("read_user", "user"):
            continue
        answer = make.api.request(endpoint.method, _PARAMETER.sub("1", endpoint.path), holder)
        assert answer.status_code == 403, (endpoint.method, endpoint.path, answer.text)
        checked += 1
    assert checked > 850
