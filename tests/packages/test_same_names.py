"""Packages of several projects with the same name: no project replaces the packages of another one."""

from pathlib import Path

import pytest

from tests.client import Api, Make, User
from tests.factories import Group, Project, make_group, make_project
from tests.packages.client import PackageClient
from tests.packages.test_npm import document, publish
from tests.packages.test_pypi import upload, wheel
from tests.roles import UsersByRole

JAR = "org/example/tool/1.0/tool-1.0.jar"


@pytest.fixture
def attacker(make: Make) -> User:
    return make.user()


@pytest.fixture
def group(make: Make, roles: UsersByRole) -> Group:
    return make_group(make, roles.owner, visibility="public")


@pytest.fixture
def original(make: Make, roles: UsersByRole, group: Group) -> Project:
    """Return the project that publishes a package first."""
    return make_project(make, roles.owner, group=group, visibility="public")


@pytest.fixture
def other(make: Make, roles: UsersByRole, group: Group, attacker: User) -> Project:
    """Return a project of the same group, in which the attacker may publish."""
    return make_project(make, roles.owner, group=group, visibility="public", members={attacker: 30})


@pytest.fixture
def foreign(make: Make, attacker: User) -> Project:
    """Return a project of the attacker elsewhere."""
    return make_project(make, attacker, visibility="public")


def test_npm_versions_and_tags_are_those_of_the_first_project(
    send: PackageClient, roles: UsersByRole, attacker: User, group: Group, original: Project, other: Project
) -> None:
    """A name without the scope of the group may exist in several projects."""
    assert publish(send, roles.owner, original, document("@x/tool", "1.0.0", b"good")).status_code == 200
    assert publish(send, attacker, other, document("@x/tool", "1.0.0", b"bad")).status_code == 200
    assert publish(send, attacker, other, document("@x/tool", "99.0.0", b"bad")).status_code == 200
    shown = send("GET", f"{group.url}/-/packages/npm/@x%2ftool").json()
    assert f"/projects/{original.id}/" in shown["versions"]["1.0.0"]["dist"]["tarball"]
    assert shown["dist-tags"]["latest"] == "1.0.0"


def test_npm_scopes_belong_to_their_group(
    send: PackageClient, roles: UsersByRole, attacker: User, original: Project, other: Project, foreign: Project
) -> None:
    """The registry of the instance finds a name in the group of its scope only, where one project has it."""
    name = f"@{original.path.partition('/')[0]}/tool"
    found = f"/packages/npm/{name.replace('/', '%2f')}"
    assert publish(send, attacker, foreign, document(name, "1.0.0", b"bad")).status_code == 200
    assert send("GET", found, attacker).status_code == 404
    assert publish(send, roles.owner, original, document(name, "1.0.0", b"good")).status_code == 200
    assert publish(send, attacker, other, document(name, "99.0.0", b"bad")).status_code == 403
    assert publish(send, attacker, foreign, document(name, "99.0.0", b"bad")).status_code == 200
    shown = send("GET", found, attacker).json()
    assert list(shown["versions"]) == ["1.0.0"]
    assert f"/projects/{original.id}/" in shown["versions"]["1.0.0"]["dist"]["tarball"]


def test_maven_files_are_those_of_the_first_project(
    send: PackageClient, roles: UsersByRole, attacker: User, group: Group, original: Project, other: Project
) -> None:
    for caller, project, content in ((roles.owner, original, b"good"), (attacker, other, b"bad")):
        for path in (JAR, "org/example/tool/maven-metadata.xml"):
            sent = send("PUT", f"{project.url}/packages/maven/{path}", caller, content=content)
            assert sent.status_code == 200, sent.text
    added = JAR.replace(".jar", "-extra.jar")
    assert send("PUT", f"{other.url}/packages/maven/{added}", attacker, content=b"bad").status_code == 200
    for path in (JAR, "org/example/tool/maven-metadata.xml"):
        assert send("GET", f"{group.url}/-/packages/maven/{path}").content == b"good"
    assert send("GET", f"{group.url}/-/packages/maven/{added}").status_code == 404


def test_python_files_are_those_of_the_first_project(
    send: PackageClient,
    roles: UsersByRole,
    attacker: User,
    group: Group,
    original: Project,
    other: Project,
    tmp_path: Path,
) -> None:
    """Names are compared as pip does, and no other project adds files to a version."""
    assert upload(send, roles.owner, original, wheel(tmp_path, "my_tool", "1.0", "good")).is_success
    digests = []
    for name, version in (("my_tool", "1.0"), ("My.Tool", "1.0"), ("my_tool", "2.0")):
        assert upload(send, attacker, other, wheel(tmp_path, name, version, "bad")).is_success
    page = send("GET", f"{group.url}/-/packages/pypi/simple/MY-tool").text
    assert (page.count("my_tool-1.0-py3"), page.count("my_tool-2.0-py3"), "My.Tool" in page) == (2, 2, False)
    own = send("GET", f"{original.url}/packages/pypi/simple/my-tool").text
    digests = [part[:64] for part in own.split("#sha256=")[1:]]
    assert digests and all(digest in page for digest in digests)


@pytest.mark.parametrize(
    "path", ["npm/lodash", "maven/junit/junit/4.12/junit-4.12.jar", "pypi/simple/requests", "npm/@types%2fnode"]
)
def test_unknown_names_are_not_requested_elsewhere(
    api: Api, send: PackageClient, group: Group, original: Project, path: str
) -> None:
    """Nothing is forwarded to public registries, where a name may belong to another owner."""
    for parent in (f"{group.url}/-/packages", f"{original.url}/packages"):
        answer = send("GET", f"{parent}/{path}")
        assert (answer.status_code, "location" in answer.headers) == (404, False)
