"""npm packages, with requests as npm sends them."""

import base64
import hashlib
from typing import Any

import httpx
import pytest

from tests.client import Api, Make, User
from tests.factories import Project, make_group, make_project
from tests.packages.client import PackageClient, deploy_token
from tests.roles import UsersByRole, project_with

TARBALL = b"the package" * 10


def document(name: str, version: str, content: bytes = TARBALL, tag: str = "latest", **dist: str) -> dict[str, Any]:
    """Return the body of ``npm publish``."""
    digests = {
        "shasum": hashlib.sha1(content, usedforsecurity=False).hexdigest(),
        "integrity": "sha512-" + base64.b64encode(hashlib.sha512(content).digest()).decode(),
    }
    package = {"name": name, "version": version, "dependencies": {"other": "^1.0.0"}, "dist": {**digests, **dist}}
    data = base64.b64encode(content).decode()
    return {
        "_id": name,
        "name": name,
        "dist-tags": {tag: version},
        "versions": {version: package},
        "_attachments": {f"{name}-{version}.tgz": {"content_type": "application/octet-stream", "data": data}},
    }


def publish(
    send: PackageClient, caller: User | dict[str, str] | None, project: Project, body: dict[str, Any]
) -> httpx.Response:
    """Publish a package."""
    path = body["name"].replace("/", "%2f")
    return send("PUT", f"{project.url}/packages/npm/{path}", caller, json=body)


@pytest.fixture
def project(make: Make, roles: UsersByRole) -> Project:
    """Return a private project of the roles."""
    return project_with(make, roles)


def test_versions_are_published_installed_and_tagged(
    api: Api, make: Make, send: PackageClient, roles: UsersByRole
) -> None:
    group = make_group(make, roles.owner)
    project = make_project(make, roles.owner, group=group, members=roles.members)
    name = f"@{group.path}/tool"
    large = bytes(range(256)) * 8_000
    assert publish(send, roles.developer, project, document(name, "1.0.0", large)).status_code == 200
    assert publish(send, roles.developer, project, document(name, "2.0.0-rc.1", tag="next")).status_code == 200
    where = f"{project.url}/packages/npm"
    encoded = name.replace("/", "%2F")
    for path in (
        f"{where}/{encoded}",
        f"{where}/{name}",
        f"/packages/npm/{encoded}",
        f"{group.url}/-/packages/npm/{name}",
    ):
        shown = send("GET", path, roles.reporter)
        assert shown.status_code == 200, path
        assert shown.json()["dist-tags"] == {"latest": "1.0.0", "next": "2.0.0-rc.1"}
        version = shown.json()["versions"]["1.0.0"]
        assert version["dependencies"] == {"other": "^1.0.0"}
        assert version["dist"]["shasum"] == hashlib.sha1(large, usedforsecurity=False).hexdigest()
        tarball = version["dist"]["tarball"].partition("/api/v4")[2]
        assert send("GET", tarball, roles.reporter).content == large
        assert send("GET", path, roles.stranger).status_code == 404
        assert send("GET", path, None).status_code == 401
    missing = send("GET", f"{project.url}/packages/npm/{encoded}/-/tool-9.0.0.tgz", roles.reporter)
    assert missing.status_code == 404
    tags = f"{project.url}/packages/npm/-/package/{encoded}/dist-tags"
    stable = f"{project.url}/packages/npm/-/package/{name}/dist-tags/stable"
    assert send("PUT", stable, roles.developer, content=b'"1.0.0"').status_code == 204
    assert send("PUT", f"{tags}/latest", roles.developer, content=b'"2.0.0-rc.1"').status_code == 204
    assert send("PUT", f"{tags}/x", roles.developer, content=b'"9.0.0"').status_code == 404
    assert send("PUT", f"{tags}/x", roles.developer, content=b"{}").status_code == 400
    assert send("PUT", f"{tags}/x", roles.reporter, content=b'"1.0.0"').status_code == 403
    expected = {"latest": "2.0.0-rc.1", "next": "2.0.0-rc.1", "stable": "1.0.0"}
    assert send("GET", tags, roles.reporter).json() == expected
    assert send("GET", f"/packages/npm/-/package/{encoded}/dist-tags", roles.reporter).json() == expected
    assert send("DELETE", f"{tags}/stable", roles.developer).status_code == 403
    assert send("DELETE", f"{tags}/stable", roles.master).status_code == 204
    assert send("DELETE", f"{tags}/stable", roles.master).status_code == 404
    packages = api.get(f"{project.url}/packages", roles.reporter).json()
    assert [[tag["name"] for tag in package["tags"]] for package in packages] == [[], ["latest", "next"]]


def test_a_version_is_published_once(
    api: Api, make: Make, send: PackageClient, roles: UsersByRole, project: Project
) -> None:
    body = document("tool", "1.0.0")
    assert publish(send, roles.developer, project, body).status_code == 200
    again = publish(send, roles.developer, project, document("tool", "1.0.0", b"other"))
    assert (again.status_code, again.json()) == (403, {"message": "403 Forbidden - Package already exists."})
    bearer = {"Authorization": f"Bearer {deploy_token(api, roles.owner, project, 'write_package_registry')[1]}"}
    assert publish(send, bearer, project, document("tool", "1.0.1")).status_code == 200
    for caller, status in ((roles.reporter, 403), (roles.stranger, 404), (None, 401)):
        assert publish(send, caller, project, document("tool", "3.0.0")).status_code == status
    # A name with the scope of the namespace belongs to one project; the instance finds no other names.
    group = make_group(make, roles.owner)
    first, second = (make_project(make, roles.owner, group=group) for _ in range(2))
    scoped = f"@{group.path}/tool"
    assert publish(send, roles.owner, first, document(scoped, "1.0.0")).status_code == 200
    assert publish(send, roles.owner, second, document(scoped, "2.0.0")).status_code == 403
    assert publish(send, roles.owner, second, document("@else/tool", "1.0.0")).status_code == 200
    assert send("GET", "/packages/npm/@else%2Ftool", roles.owner).status_code == 404
    assert send("GET", "/packages/npm/tool", roles.owner).status_code == 404


def test_malformed_publications(
    api: Api, make: Make, send: PackageClient, roles: UsersByRole, project: Project
) -> None:
    where = f"{project.url}/packages/npm/tool"
    good = document("tool", "1.0.0")
    bad: list[dict[str, Any]] = [
        {**good, "name": "other"},
        {**good, "versions": {}},
        {**good, "_attachments": {}},
        {**good, "_attachments": {"a": {"data": "%%%"}}},
        {**good, "_attachments": {"a": {"data": "\x011-9999999999"}}},
        {**good, "_attachments": {"a": {"data": 7}}},
        {**good, "versions": {"1.0.0": {"dist": {"shasum": "0" * 40}}}},
        {**good, "versions": {"1.0.0": {"dist": {"integrity": "sha512-AAAA"}}}},
        {**good, "versions": {"latest": {}}},
    ]
    for body in bad:
        assert send("PUT", where, roles.developer, json=body).status_code == 400, body
    for content in (b"", b"[]", b"{", b'{"name": 1}', b"\xff\xfe"):
        assert send("PUT", where, roles.developer, content=content).status_code == 400, content
    long = document("tool", "1.0.0")
    long["versions"]["1.0.0"]["readme"] = "é" * 200_000
    assert send("PUT", where, roles.developer, json=long).status_code == 200
    assert "readme" not in send("GET", where, roles.developer).json()["versions"]["1.0.0"]
    api.put("/application/settings", make.root, npm_max_file_size=100)
    try:
        too_large = document("tool", "2.0.0", b"x" * 101)
        assert send("PUT", where, roles.developer, json=too_large).status_code == 413
        unending = (b'"' + b"A" * 2**20 for _ in range(12))
        assert send("PUT", where, roles.developer, content=unending).status_code == 413
    finally:
        api.put("/application/settings", make.root, npm_max_file_size=524_288_000)


def test_versions_are_deprecated(send: PackageClient, roles: UsersByRole, project: Project) -> None:
    """``npm deprecate`` sends the whole document; only the message of existing versions changes."""
    name = "old-tool"
    for version in ("1.0.0", "2.0.0"):
        assert publish(send, roles.developer, project, document(name, version)).status_code == 200
    where = f"{project.url}/packages/npm/{name}"
    before = send("GET", where, roles.developer).json()

    def deprecate(caller: User, message: Any, version: str = "1.0.0") -> int:
        sent = send("GET", where, roles.developer).json()
        sent["versions"].setdefault(version, {"name": name, "version": version})
        sent["versions"][version] |= {"deprecated": message, "description": "changed"}
        return send("PUT", where, caller, json=sent).status_code

    assert deprecate(roles.reporter, "no") == 403
    assert deprecate(roles.developer, "Use 2.0.0") == 200
    expected = {**before["versions"]["1.0.0"], "deprecated": "Use 2.0.0"}
    assert send("GET", where, roles.reporter).json()["versions"] == {**before["versions"], "1.0.0": expected}
    assert (deprecate(roles.developer, 7), deprecate(roles.developer, "no", "9.0.0")) == (400, 200)
    assert deprecate(roles.developer, "") == 200
    assert send("GET", where, roles.reporter).json() == before
    missing = {"name": "nothing", "versions": {"1.0.0": {"deprecated": "x"}}}
    assert publish(send, roles.developer, project, missing).status_code == 404
