"""Lists of the calls that changed something, made with access tokens."""

from contextlib import closing
from typing import Any, Protocol

import pytest

from ingot.accounts.tokens import retention
from ingot.accounts.tokens.tables import token_audit_events
from tests.api.access_tokens.test_access_tokens import CALLERS, bot, create
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, add_members, later, make_project, statements_of
from tests.graphql.conftest import Graphql
from tests.lfs.conftest import LfsClient, lfs
from tests.mcp.client import Agent
from tests.packages.client import PackageClient, basic
from tests.packages.conftest import send
from tests.packages.registry_client import RegistryClient
from tests.packages.test_npm import document
from tests.roles import UsersByRole, group_with, project_with
from tests.server.process import until
from tests.transport.conftest import Tree, over_http, tree

__all__ = ["lfs", "send", "tree"]


class ReadEvents(Protocol):
    """Reader of a list of calls."""

    def __call__(self, where: str, caller: User, number: int) -> list[dict[str, Any]]:
        """Return the list as soon as it has a length."""


@pytest.fixture
def events(instance: Instance, api: Api) -> ReadEvents:
    """Write the calls of earlier tests; return the reader of lists, which writes the calls of this one."""
    instance.app.audit_log.write_pending()

    def read_events(where: str, caller: User, number: int) -> list[dict[str, Any]]:
        def read() -> list[dict[str, Any]] | None:
            instance.app.audit_log.write_pending()
            found: list[dict[str, Any]] = api.get(where, caller, per_page=100).json()
            assert len(found) <= number, found
            return found if len(found) == number else None

        return until(f"{number} events", read)  # That of a push is recorded after its response.

    return read_events


def personal(api: Api, make: Make, person: User, *scopes: str) -> tuple[User, str]:
    """Return a user as a caller with a new personal access token, and the address of its list."""
    sent = {"name": "Script <b>", "scopes": list(scopes or ("api",))}
    made = api.post(f"/users/{person.id}/personal_access_tokens", make.root, **sent)
    assert made.status_code == 201, made.text
    return person.with_token(made.json()["token"]), f"/personal_access_tokens/{made.json()['id']}/audit_events"


def calls(found: list[dict[str, Any]]) -> list[tuple[str, str, str | None]]:
    """Return the method, route and path of each event."""
    return [(each["method"], each["route"], each["entity_path"]) for each in found]


def test_successful_writes_are_listed_newest_first(api: Api, make: Make, events: ReadEvents) -> None:
    person, other = make.user(), make.user()
    project = make_project(make, person)
    caller, where = personal(api, make, person)
    assert api.get(where, person).json() == []
    issue = api.post(f"{project.url}/issues", caller, title="One").json()
    assert api.get(f"{project.url}/issues", caller).status_code == 200
    assert api.post(f"{project.url}/issues", caller).status_code == 400
    assert api.post(f"{project.url}/issues", person, title="By another token").status_code == 201
    by_path = f"/projects/{project.path.replace('/', '%2F')}"
    assert api.put(f"{by_path}/issues/{issue['iid']}", caller, title="Two").status_code == 200
    assert api.put("/user/status", caller, message="Busy").status_code == 200
    found = events(where, person, 3)
    assert calls(found) == [
        ("PUT", "/user/status", None),
        ("PUT", "/projects/:id/issues/:issue_iid", project.path),
        ("POST", "/projects/:id/issues", project.path),
    ]
    assert found[2].keys() == {
        *("id", "token_id", "token_name", "method", "route", "entity_path", "status", "ip_address", "created_at")
    }
    assert (found[2]["status"], found[2]["ip_address"], found[2]["token_name"]) == (201, "127.0.0.1", "Script <b>")
    assert api.get(where, make.root).json() == found
    of_all = api.get("/user/token_audit_events", person).json()
    assert [each for each in of_all if each["token_id"] == found[0]["token_id"]] == found and len(of_all) > 3
    assert api.get("/user/token_audit_events", other).json() == []
    assert (api.get(where, other).status_code, api.get(where).status_code) == (404, 401)
    assert api.get("/personal_access_tokens/999999999/audit_events", person).status_code == 404
    assert api.get("/personal_access_tokens/x/audit_events", person).status_code in (400, 404)
    page = api.get(where, person, per_page=1, page=2)
    assert page.json() == found[1:2] and page.headers["x-total"] == "3"
    assert api.get(where, person, per_page="x").status_code == 400


def test_tools_mutations_and_pushes_are_listed(
    instance: Instance, api: Api, make: Make, graphql_client: Graphql, tree: Tree, events: ReadEvents
) -> None:
    person = make.user()
    project = make_project(make, person)
    caller, where = personal(api, make, person)
    agent = Agent(instance, caller)
    assert agent.get("create_issue", id=project.path, title="By an agent")["iid"] == 1
    assert agent.get("get_issue", id=project.path, issue_iid=1)["title"] == "By an agent"
    assert agent.call("create_issue", id=project.path, title="")["isError"]
    mutation = """mutation($path: ID!) { createIssue(input: {projectPath: $path, title: "By a query"}) { errors } }"""
    assert graphql_client.data(mutation, caller, path=project.path) == {"createIssue": {"errors": []}}
    tree.commit()
    tree.git("push", "-q", over_http(instance, project, caller), "master")
    tree.git("ls-remote", over_http(instance, project, caller))
    assert set(calls(events(where, person, 3))) == {
        ("POST", "/projects/:id/issues", project.path),
        ("POST", "/:path.git/git-receive-pack", project.path),
    }


def test_calls_of_lfs_clients_are_listed(
    instance: Instance, api: Api, make: Make, lfs: LfsClient, events: ReadEvents
) -> None:
    person = make.user()
    project = make_project(make, person)
    caller, where = personal(api, make, person)
    lfs.upload(project, caller, b"large")
    assert lfs.get(project, caller, b"large").content == b"large"
    lock = lfs.json(project, "info/lfs/locks", caller, path="a.bin").json()["lock"]
    assert lfs.json(project, "info/lfs/locks", caller, path="a.bin").status_code == 409
    assert lfs.json(project, f"info/lfs/locks/{lock['id']}/unlock", caller).status_code == 200
    found = events(where, person, 3)
    assert calls(found) == [
        ("POST", "/:path.git/info/lfs/locks", project.path),
        ("POST", "/:path.git/info/lfs/locks", project.path),
        ("PUT", "/:path.git/gitlab-lfs/objects", project.path),
    ]
    assert [each["status"] for each in found] == [200, 201, 200]
    assert {each["ip_address"] for each in found} == {"127.0.0.1"}


def test_calls_of_package_clients_are_listed(
    instance: Instance, api: Api, make: Make, send: PackageClient, events: ReadEvents
) -> None:
    person = make.user()
    project = make_project(make, person)
    caller, where = personal(api, make, person)
    login = basic(person.username, caller.token)
    packages = f"{project.url}/packages"
    assert send("PUT", f"{packages}/generic/tool/1.0/a.txt", login, content=b"a").status_code == 201
    assert send("GET", f"{packages}/generic/tool/1.0/a.txt", login).content == b"a"
    bearer = {"Authorization": f"Bearer {caller.token}"}
    assert send("PUT", f"{packages}/npm/@x%2Ftool", bearer, json=document("@x/tool", "1.0.0")).status_code == 200
    assert send("PUT", f"{packages}/maven/a/b/1.0/b-1.0.jar", login, content=b"jar").status_code == 200
    with closing(RegistryClient(instance, person.username, caller.token)) as registry:
        registry.push_image(project.path, "v1", b"layer")
        assert registry("GET", f"/v2/{project.path}/manifests/v1").status_code == 200
        assert registry("DELETE", f"/v2/{project.path}/manifests/v1").status_code == 202
    assert calls(events(where, person, 7)) == [
        ("DELETE", "/v2/:name/manifests", project.path),
        ("PUT", "/v2/:name/manifests", project.path),
        *[("PUT", "/v2/:name/blobs/uploads", project.path)] * 2,
        ("PUT", "/projects/:id/packages/maven/:path/:file_name", project.path),
        ("PUT", "/projects/:id/packages/npm/:package_name", project.path),
        ("PUT", "/projects/:id/packages/generic/:package_name/:package_version/:file_name", project.path),
    ]


@pytest.fixture
def graphql_client(instance: Instance) -> Any:
    """Yield a client of the GraphQL API."""
    client = Graphql(instance.url)
    yield client
    client.close()


def test_managers_of_projects_and_groups_see_the_calls_of_bots(
    api: Api, make: Make, roles: UsersByRole, events: ReadEvents
) -> None:
    for parent, column in ((project_with(make, roles), 1), (group_with(make, roles), 2)):
        made = create(api, make.root, parent)
        where = f"{parent.url}/access_tokens/{made['id']}/audit_events"
        assert api.post(f"{parent.url}/labels", bot(made), name="new", color="#112233").status_code == 201
        kind = "projects" if isinstance(parent, Project) else "groups"
        assert calls(events(where, make.root, 1)) == [("POST", f"/{kind}/:id/labels", parent.path)]
        for caller in CALLERS:
            assert api.get(where, roles[caller[0]]).status_code == caller[column], caller
        missing = f"{parent.url}/access_tokens/999999/audit_events"
        assert api.get(missing, make.root).status_code == 404
        assert api.delete(f"{parent.url}/access_tokens/{made['id']}", make.root).status_code == 200
        assert len(api.get(where, make.root).json()) == 1


def test_old_and_surplus_calls_are_deleted(instance: Instance, api: Api, make: Make, events: ReadEvents) -> None:
    person = make.user()
    caller, where = personal(api, make, person)
    for message in ("one", "two"):
        assert api.put("/user/status", caller, message=message).status_code == 200
    found = events(where, person, 2)
    delete = retention.delete_old_token_audit_events
    instance.app.database.write(delete)
    assert api.get(where, person).json() == found
    row = {name: value for name, value in found[0].items() if name != "id"} | {"user_id": person.id}
    rows = [row] * retention.MAX_EVENTS_PER_TOKEN
    instance.app.database.write(lambda db: db.insert_many(token_audit_events, rows))
    assert api.get(where, person, per_page=1).headers["x-total"] == str(retention.MAX_EVENTS_PER_TOKEN + 2)
    instance.app.database.write(delete)
    kept = api.get(where, person, per_page=1, page=retention.MAX_EVENTS_PER_TOKEN)
    assert kept.headers["x-total"] == str(retention.MAX_EVENTS_PER_TOKEN)
    assert kept.json()[0]["id"] > found[0]["id"]
    with later(instance, days=retention.RETENTION_DAYS, seconds=60):
        instance.app.database.write(delete)
    assert api.get(where, person).json() == []


def test_calls_are_deleted_with_their_user(api: Api, make: Make, events: ReadEvents) -> None:
    person = make.user()
    project = make_project(make)
    add_members(make, project, {person: 30})
    caller, where = personal(api, make, person)
    assert api.post(f"{project.url}/issues", caller, title="One").status_code == 201
    events(where, make.root, 1)
    assert api.delete(f"/users/{person.id}", make.root).status_code == 200
    assert api.get(where, make.root).status_code == 404


def test_list_has_constant_statements(api: Api, make: Make, events: ReadEvents) -> None:
    person = make.user()
    caller, where = personal(api, make, person)
    assert api.put("/user/status", caller, message="0").status_code == 200
    events(where, person, 1)
    one = statements_of(make, lambda: api.get(where, person))
    for number in range(4):
        assert api.put("/user/status", caller, message=f"{number}").status_code == 200
    events(where, person, 5)
    assert statements_of(make, lambda: api.get(where, person)) <= one
