"""Generic packages, the lists of packages, and the credentials of package managers."""

import hashlib
import threading
from functools import partial
from typing import Any

import pytest

from ingot.packages.files.store import package_store_of
from tests.ci.job_tokens.test_job_tokens import RunningJob
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import Group, Project, day, make_group, make_project, statements_of
from tests.packages.client import PackageClient, basic, deploy_token
from tests.roles import UsersByRole, project_with

CHALLENGE = 'Basic realm="GitLab Packages Registry"'


@pytest.fixture
def project(make: Make, roles: UsersByRole) -> Project:
    """Return a private project of the roles."""
    return project_with(make, roles)


def test_members_upload_and_download_by_their_level(
    api: Api, make: Make, send: PackageClient, roles: UsersByRole, project: Project
) -> None:
    where = f"{project.url}/packages/generic/tool/1.0"
    assert send("PUT", f"{where}/a.txt", roles.developer, content=b"first").json() == {"message": "201 Created"}
    package = api.get(f"{project.url}/packages", roles.reporter).json()[0]
    expected = [
        ("administrator", 200, 201, 204),
        ("owner", 200, 201, 204),
        ("master", 200, 201, 204),
        ("developer", 200, 201, 403),
        ("reporter", 200, 403, 403),
        ("guest", 403, 403, 403),
        ("stranger", 404, 404, 404),
        ("nobody", 401, 401, 401),
    ]
    for role, read, write, delete in expected:
        caller = roles[role]
        answer = send("GET", f"{where}/a.txt", caller)
        assert answer.status_code == read, role
        assert (answer.content == b"first") is (read == 200)
        assert (answer.headers.get("www-authenticate") == CHALLENGE) is (read == 401)
        assert send("PUT", f"{where}/{role}.txt", caller, content=role.encode()).status_code == write, role
        for path in ("", f"/{package['id']}", f"/{package['id']}/package_files"):
            shown = api.get(f"{project.url}/packages{path}", caller).status_code
            assert shown == (404 if role == "nobody" else read), (role, path)
        send("PUT", f"{project.url}/packages/generic/of/{role}/x", make.root, content=b"x")
        (listed,) = api.get(f"{project.url}/packages", make.root, package_version=role).json()
        (file,) = api.get(f"{project.url}/packages/{listed['id']}/package_files", make.root).json()
        for path in (f"/{listed['id']}/package_files/{file['id']}", f"/{listed['id']}"):
            assert api.delete(f"{project.url}/packages{path}", caller).status_code == delete, (role, path)
    missing = send("GET", f"{project.url}/packages/generic/none/1.0/a.txt", roles.reporter)
    assert (missing.status_code, missing.json()) == (404, {"message": "404 Package Not Found"})
    api.post(f"{project.url}/archive", roles.owner)
    assert send("PUT", f"{where}/late.txt", roles.owner, content=b"x").status_code == 403
    assert send("GET", f"{where}/a.txt", roles.reporter).status_code == 200


def test_a_published_file_never_changes(
    api: Api, instance: Instance, send: PackageClient, roles: UsersByRole, project: Project
) -> None:
    where = f"{project.url}/packages/generic/tool/2.0"
    content = b"x" * 3_000_000
    upload = partial(send, "PUT", f"{where}/dir/a.bin", roles.developer)
    stored = upload(content=content, params={"select": "package_file"}).json()
    assert (stored["size"], stored["file_sha256"]) == (len(content), hashlib.sha256(content).hexdigest())
    assert (stored["file_name"], stored["file_sha1"]) == ("dir/a.bin", None)
    assert upload(content=content).status_code == 201
    refused = upload(content=b"another")
    assert (refused.status_code, refused.json()) == (
        400,
        {"message": "400 Bad request - Duplicate package is not allowed"},
    )
    downloaded = send("GET", f"{where}/dir/a.bin", roles.reporter)
    assert downloaded.content == content
    by_id = f"{project.url}/packages/{stored['package_id']}/package_files/{stored['id']}/download"
    assert send("GET", by_id, roles.reporter).content == content
    assert send("GET", f"{where}/dir/a.bin", roles.reporter, headers={"Range": "bytes=5-9"}).content == b"xxxxx"
    tag = {"If-None-Match": downloaded.headers["etag"]}
    assert send("GET", f"{where}/dir/a.bin", roles.reporter, headers=tag).status_code == 304
    package = api.get(f"{project.url}/packages", roles.developer, package_version="2.0").json()[0]
    assert len(api.get(f"{project.url}/packages/{package['id']}/package_files", roles.developer).json()) == 1
    store = package_store_of(instance.settings)
    instance.work()
    before = sum(len(batch) for batch in store.batches(0))
    upload(content=b"another")
    instance.work()
    assert sum(len(batch) for batch in store.batches(0)) == before


def test_concurrent_uploads_of_one_file(api: Api, send: PackageClient, roles: UsersByRole, project: Project) -> None:
    where = f"{project.url}/packages/generic/race/1"
    answers: list[tuple[bytes, int]] = []

    def upload(content: bytes) -> None:
        answers.append((content, send("PUT", f"{where}/f", roles.developer, content=content).status_code))

    threads = [threading.Thread(target=upload, args=(b"%d" % (number % 2),)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    stored = send("GET", f"{where}/f", roles.developer).content
    assert {status for content, status in answers if content == stored} == {201}
    assert {status for content, status in answers if content != stored} <= {400}
    assert len(api.get(f"{project.url}/packages", roles.developer, package_name="race").json()) == 1


def test_names_and_sizes_are_checked(
    api: Api, make: Make, send: PackageClient, roles: UsersByRole, project: Project
) -> None:
    where = f"{project.url}/packages/generic"
    for path in (
        "na%20me/1/f",
        "name/1..2/f",
        "name/1/%2e%2e",
        "name/1/a%2F..%2Fb",
        "name/1/@f",
        "n%0a/1/f",
        "n/1/f%00",
    ):
        assert send("PUT", f"{where}/{path}", roles.developer, content=b"x").status_code in (400, 404), path
    assert send("PUT", f"{where}/n/1/{'f' * 256}", roles.developer, content=b"x").status_code == 400
    assert send("PUT", f"{where}/n/1/f?status=other", roles.developer, content=b"x").status_code == 400
    api.put("/application/settings", make.root, generic_packages_max_file_size=10)
    try:
        answer = send("PUT", f"{where}/n/1/f", roles.developer, content=b"x" * 11)
        assert (answer.status_code, answer.json()) == (413, {"message": "413 Request Entity Too Large"})
        pieces = iter([b"x" * 6, b"x" * 6])
        assert send("PUT", f"{where}/n/1/f", roles.developer, content=pieces).status_code == 413
    finally:
        api.put("/application/settings", make.root, generic_packages_max_file_size=5_368_709_120)
    assert api.get(f"{project.url}/packages", roles.developer).json() == []
    assert send("GET", f"{where}/n/1/f", roles.developer).status_code == 404


def test_package_managers_send_any_kind_of_token(
    api: Api, instance: Instance, make: Make, send: PackageClient, roles: UsersByRole
) -> None:
    group = make_group(make, roles.owner)
    project = make_project(make, roles.owner, group=group, members=roles.members)
    other = make_project(make, roles.owner)
    path = f"{project.url}/packages/generic/tool/1/f"
    job = RunningJob(make, roles.developer, project).token
    writer = deploy_token(api, roles.owner, project, "write_package_registry")
    reader = deploy_token(api, roles.owner, group, "read_package_registry")
    neither = deploy_token(api, roles.owner, project, "read_repository")
    stranger = deploy_token(api, roles.owner, other, "read_package_registry", "write_package_registry")
    read_api = make.token(roles.developer.id, "read_api")
    registry = make.token(roles.developer.id, "write_registry")
    callers = [
        (basic("any", roles.developer.token), 201, 200),
        ({"Authorization": f"Bearer {roles.developer.token}"}, 201, 200),
        ({"JOB-TOKEN": job}, 201, 200),
        (basic("gitlab-ci-token", job), 201, 200),
        ({"Authorization": f"Bearer {job}"}, 201, 200),
        ({"Deploy-Token": writer[1]}, 201, 200),
        ({"Authorization": f"Bearer {writer[1]}"}, 201, 200),
        (basic(*writer), 201, 200),
        (basic(*reader), 403, 200),
        ({"Deploy-Token": reader[1]}, 403, 200),
        (basic("another", reader[1]), 401, 401),
        ({"PRIVATE-TOKEN": writer[1]}, 401, 401),
        ({"Deploy-Token": neither[1]}, 403, 403),
        ({"Deploy-Token": stranger[1]}, 401, 401),
        (basic("gitlab-ci-token", roles.developer.token), 201, 200),
        (basic("gitlab-ci-token", "wrong"), 401, 401),
        ({"PRIVATE-TOKEN": read_api}, 403, 200),
        ({"PRIVATE-TOKEN": registry}, 403, 403),
        (basic("x", "wrong"), 401, 401),
        ({"Authorization": "Basic %%%"}, 401, 401),
        ({"JOB-TOKEN": "wrong"}, 401, 401),
    ]
    for headers, write, read in callers:
        assert send("PUT", path, headers, content=b"content").status_code == write, headers
        answer = send("GET", path, headers)
        assert answer.status_code == read, headers
        assert (answer.headers.get("www-authenticate") == CHALLENGE) is (read == 401)
    # Deploy tokens give no access to anything else.
    assert send("GET", f"{project.url}/packages", {"Deploy-Token": writer[1]}).status_code == 404


def test_visibility_and_the_settings_of_a_project(
    api: Api, make: Make, send: PackageClient, roles: UsersByRole
) -> None:
    group = make_group(make, roles.owner, visibility="public")
    project = make_project(make, roles.owner, group=group, visibility="public", members=roles.members)
    path = f"{project.url}/packages/generic/tool/1/f"
    assert send("PUT", path, roles.developer, content=b"content").status_code == 201

    def statuses() -> tuple[int, ...]:
        callers = (None, roles.stranger, roles.reporter)
        listed = [len(api.get(f"{group.url}/packages", caller).json()) for caller in callers]
        return (*(send("GET", path, caller).status_code for caller in callers), *listed)

    assert statuses() == (200, 200, 200, 1, 1, 1)
    assert send("PUT", path, None, content=b"x").status_code == 401
    assert send("PUT", path, roles.stranger, content=b"x").status_code == 403
    changes: list[tuple[dict[str, Any], tuple[int, ...]]] = [
        ({"package_registry_access_level": "private"}, (403, 403, 200, 0, 0, 1)),
        ({"package_registry_access_level": "enabled", "visibility": "internal"}, (401, 200, 200, 0, 1, 1)),
        ({"package_registry_access_level": "public", "visibility": "private"}, (401, 404, 200, 0, 0, 1)),
        ({"packages_enabled": False}, (401, 404, 403, 0, 0, 0)),
    ]
    for attributes, expected in changes:
        assert api.put(project.url, roles.owner, **attributes).status_code == 200
        assert statuses() == expected, attributes
    assert api.get(f"{project.url}/packages", roles.owner).status_code == 403
    assert api.get(f"{group.url}/packages", make.root).json() == []


def test_lists_are_filtered_and_sorted(
    api: Api, make: Make, send: PackageClient, roles: UsersByRole, project: Project
) -> None:
    for name, version, status in (("b-tool", "1", ""), ("a-tool", "3", ""), ("c", "2", ""), ("d", "1", "hidden")):
        path = f"{project.url}/packages/generic/{name}/{version}/f"
        assert send("PUT", path, roles.developer, content=b"x", params={"status": status}).status_code == 201
    send("PUT", f"{project.url}/packages/generic/c/4/f", roles.developer, content=b"x")

    def names(**params: str) -> list[str]:
        listed = api.get(f"{project.url}/packages", roles.developer, **params)
        assert listed.status_code == 200, listed.text
        return [f"{package['name']} {package['version']}" for package in listed.json()]

    assert names() == ["b-tool 1", "a-tool 3", "c 2", "c 4"]
    assert names(sort="desc") == ["c 4", "c 2", "a-tool 3", "b-tool 1"]
    assert names(order_by="name") == ["a-tool 3", "b-tool 1", "c 2", "c 4"]
    assert names(order_by="version", sort="desc") == ["c 4", "a-tool 3", "c 2", "b-tool 1"]
    assert names(package_name="TOOL") == ["b-tool 1", "a-tool 3"]
    assert names(package_type="npm") == []
    assert names(package_version="2") == ["c 2"]
    assert names(status="hidden") == ["d 1"]
    newest = api.get(f"{project.url}/packages", roles.owner, package_version="4").json()[0]
    assert newest["_links"]["web_path"] == f"/{project.path}/-/packages/{newest['id']}"
    shown = api.get(f"{project.url}/packages/{newest['id']}", roles.owner).json()
    assert [version["version"] for version in shown["versions"]] == ["2"]
    assert shown["_links"]["delete_api_path"].endswith(f"{project.url}/packages/{newest['id']}")
    assert "delete_api_path" not in api.get(f"{project.url}/packages/{newest['id']}", roles.developer).json()["_links"]
    other = make_project(make, roles.owner)
    assert api.get(f"{other.url}/packages/{newest['id']}", roles.owner).status_code == 404


def test_packages_of_a_group(api: Api, make: Make, send: PackageClient, roles: UsersByRole) -> None:
    group = make_group(make, roles.owner, visibility="public")
    below = make_group(make, roles.owner, parent=group, visibility="public")
    made: list[Project] = []
    for parent, visibility in ((group, "private"), (below, "public")):
        made.append(make_project(make, roles.owner, group=parent, visibility=visibility))
        send("PUT", f"{made[-1].url}/packages/generic/tool/1/f", roles.owner, content=b"x")

    def listed(parent: Group, role: str, **params: str) -> list[str]:
        answer = api.get(f"{parent.url}/packages", roles[role], **params)
        return [package["project_path"] for package in answer.json()]

    assert listed(group, "owner") == [made[0].path, made[1].path]
    assert listed(group, "owner", order_by="project_path", sort="desc") == sorted(
        (project.path for project in made), reverse=True
    )
    assert listed(group, "owner", exclude_subgroups="true") == [made[0].path]
    assert listed(below, "owner") == listed(group, "nobody") == listed(group, "stranger") == [made[1].path]
    few = statements_of(make, lambda: api.get(f"{group.url}/packages", roles.owner))
    for number in range(4):
        send("PUT", f"{made[0].url}/packages/generic/more/{number}/f", roles.owner, content=b"x")
    assert statements_of(make, lambda: api.get(f"{group.url}/packages", roles.owner)) == few
    api.delete(made[0].url, roles.owner)
    assert listed(group, "owner") == [made[1].path]


def test_deleted_files_and_sweep(
    api: Api, instance: Instance, send: PackageClient, roles: UsersByRole, project: Project
) -> None:
    instance.work()
    store = package_store_of(instance.settings)
    before = {key for batch in store.batches(0) for key in batch}
    send("PUT", f"{project.url}/packages/generic/gone/1/f", roles.developer, content=b"x")
    (package,) = api.get(f"{project.url}/packages", roles.owner).json()
    (key,) = {key for batch in store.batches(0) for key in batch} - before
    assert api.delete(f"{project.url}/packages/{package['id']}", roles.owner).status_code == 204
    assert api.get(f"{project.url}/packages/{package['id']}", roles.owner).status_code == 404
    assert api.delete(f"{project.url}/packages/{package['id']}", roles.owner).status_code == 404
    instance.work()
    assert store.size_of(key) is None


def test_the_last_download_is_recorded(instance: Instance, api: Api, send: PackageClient, make: Make) -> None:
    """It is written in the background, in all views of the package; another package is not touched."""
    project = make_project(make)
    for name in ("tool", "other"):
        send("PUT", f"{project.url}/packages/generic/{name}/1.0/a.txt", make.root, content=b"x")
    packages = {each["name"]: each for each in api.get(f"{project.url}/packages", make.root).json()}
    assert {each["last_downloaded_at"] for each in packages.values()} == {None}
    (file,) = api.get(f"{project.url}/packages/{packages['tool']['id']}/package_files", make.root).json()

    def require_last_downloads(expected: dict[str, str | None]) -> None:
        """Read until the write in the background has ended."""
        for _ in range(1000):
            listed = api.get(f"{project.url}/packages", make.root).json()
            shown = {each["name"]: each["last_downloaded_at"] for each in listed}
            if shown == expected:
                break
        assert shown == expected

    assert send("GET", f"{project.url}/packages/generic/tool/1.0/missing.txt", make.root).status_code == 404
    require_last_downloads({"tool": None, "other": None})
    now = "2031-03-01T12:00:00.000Z"
    with day(instance, "2031-03-01"):
        download = f"{project.url}/packages/{packages['tool']['id']}/package_files/{file['id']}/download"
        assert send("GET", download, make.root).content == b"x"
        require_last_downloads({"tool": now, "other": None})
        assert send("GET", f"{project.url}/packages/generic/other/1.0/a.txt", make.root).content == b"x"
        require_last_downloads({"tool": now, "other": now})
