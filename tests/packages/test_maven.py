"""Maven packages, with requests as Maven sends them."""

import hashlib

import pytest

from tests.client import Api, Make
from tests.factories import Project, changed_settings, make_group, make_project
from tests.packages.client import PackageClient, basic, deploy_token
from tests.roles import UsersByRole, project_with

JAR = b"a jar" * 100


@pytest.fixture
def project(make: Make, roles: UsersByRole) -> Project:
    """Return a private project of the roles."""
    return project_with(make, roles)


def digest(algorithm: str, content: bytes) -> str:
    """Return a checksum as Maven writes it."""
    return hashlib.new(algorithm, content, usedforsecurity=False).hexdigest()


def test_a_release_is_deployed_and_fetched(api: Api, make: Make, send: PackageClient, roles: UsersByRole) -> None:
    group = make_group(make, roles.owner)
    project = make_project(make, roles.owner, group=group, members=roles.members)
    name = "com/example/app"
    where = f"{project.url}/packages/maven/{name}"
    token = basic(*deploy_token(api, roles.owner, project, "write_package_registry"))
    files = {"1.0/app-1.0.jar": JAR, "1.0/app-1.0.pom": b"<project/>", "maven-metadata.xml": b"<metadata/>"}
    for path, content in files.items():
        assert send("PUT", f"{where}/{path}", token, content=content).status_code == 200, path
        for algorithm in ("sha1", "md5", "sha256", "sha512"):
            checksum = f"{where}/{path}.{algorithm}"
            assert send("PUT", checksum, token, content=digest(algorithm, content).encode()).status_code == 204
            if algorithm != "sha512":
                assert send("PUT", checksum, token, content=b"0" * 40).status_code == 409
                assert send("GET", checksum, roles.reporter).text == digest(algorithm, content)
        for prefix in (f"{project.url}/packages", f"{group.url}/-/packages"):
            assert send("GET", f"{prefix}/maven/{name}/{path}", roles.reporter).content == content
            assert send("GET", f"{prefix}/maven/{name}/{path}", None).status_code == 401
            assert send("GET", f"{prefix}/maven/{name}/{path}", roles.stranger).status_code == 404
    assert send("GET", f"{where}/1.0/other.jar", roles.reporter).status_code == 404
    assert send("GET", f"{where}/1.0/app-1.0.jar", roles.guest).status_code == 403
    assert send("PUT", f"{where}/1.0/app-1.0.jar", roles.reporter, content=JAR).status_code == 403
    listed = api.get(f"{project.url}/packages", roles.reporter).json()
    assert [(package["name"], package["version"]) for package in listed] == [(name, "1.0")]
    everything = api.get(f"{project.url}/packages", roles.reporter, include_versionless="true").json()
    assert [package["version"] for package in everything] == ["1.0", None]


def test_releases_never_change_and_snapshots_do(send: PackageClient, roles: UsersByRole, project: Project) -> None:
    where = f"{project.url}/packages/maven/org/tool"
    replaced = [
        ("1.0/tool-1.0.jar", 400),
        ("1.0-SNAPSHOT/tool-1.0-20260101.010203-1.jar", 200),
        ("1.0-SNAPSHOT/maven-metadata.xml", 200),
        ("maven-metadata.xml", 200),
    ]
    for path, status in replaced:
        assert send("PUT", f"{where}/{path}", roles.developer, content=b"one").status_code == 200
        assert send("PUT", f"{where}/{path}", roles.developer, content=b"one").status_code == 200
        assert send("PUT", f"{where}/{path}", roles.developer, content=b"two").status_code == status
        assert send("GET", f"{where}/{path}", roles.developer).content == (b"two" if status == 200 else b"one")
    for path in ("1.0/a%20b.jar", "..%2f1.0/a.jar", "%2e%2e/1.0/a.jar", "1.0/%2e%2e"):
        assert send("PUT", f"{where}/{path}", roles.developer, content=b"x").status_code in (400, 404), path


def test_packages_of_the_instance_have_the_path_of_their_project(
    make: Make, send: PackageClient, roles: UsersByRole, project: Project
) -> None:
    path = f"{project.path}/1.0/app-1.0.jar"
    assert send("PUT", f"{project.url}/packages/maven/{path}", roles.developer, content=JAR).status_code == 200
    assert send("GET", f"/packages/maven/{path}", roles.reporter).content == JAR
    assert send("GET", f"/packages/maven/{path}.md5", make.root).text == digest("md5", JAR)
    assert send("GET", f"/packages/maven/{path}", roles.guest).status_code == 404
    assert send("GET", f"/packages/maven/{path}", roles.stranger).status_code == 404
    assert send("GET", f"/packages/maven/{path}", None).status_code == 401


def test_the_size_of_files_is_limited(make: Make, send: PackageClient, roles: UsersByRole, project: Project) -> None:
    url = f"{project.url}/packages/maven/org/tool/1.0/tool-1.0.jar"
    with changed_settings(make, maven_max_file_size=len(JAR) - 1):
        assert send("PUT", url, roles.developer, content=JAR).status_code == 413
    with changed_settings(make, maven_max_file_size=len(JAR)):
        assert send("PUT", url, roles.developer, content=JAR).status_code == 200
