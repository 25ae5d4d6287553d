"""Python packages: with pip itself, and uploads as twine sends them."""

import hashlib
import subprocess
import sys
import zipfile
from pathlib import Path

import httpx
import pytest

from tests.ci.job_tokens.test_job_tokens import RunningJob
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, changed_settings, make_group, make_project
from tests.packages.client import PackageClient, basic, deploy_token
from tests.roles import UsersByRole, project_with


@pytest.fixture
def project(make: Make, roles: UsersByRole) -> Project:
    """Return a private project of the roles."""
    return project_with(make, roles)


def wheel(folder: Path, name: str, version: str, text: str = "") -> Path:
    """Write a wheel with one module."""
    path = folder / f"{name}-{version}-py3-none-any.whl"
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{name}.py", f"VALUE = {version!r}  # {text}\n")
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")
    return path


def upload(
    send: PackageClient, caller: User | dict[str, str] | None, project: Project, path: Path, **fields: str
) -> httpx.Response:
    """Upload a file as twine does."""
    name, version = path.name.split("-")[:2]
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    data = {":action": "file_upload", "name": name, "version": version, "sha256_digest": digest, **fields}
    files = {"content": (path.name, path.read_bytes(), "application/octet-stream")}
    return send("POST", f"{project.url}/packages/pypi", caller, data=data, files=files)


def test_pip_installs_an_uploaded_package(
    api: Api, instance: Instance, make: Make, send: PackageClient, roles: UsersByRole, tmp_path: Path
) -> None:
    group = make_group(make, roles.owner)
    project = make_project(make, roles.owner, group=group, members=roles.members)
    token = deploy_token(api, roles.owner, group, "read_package_registry", "write_package_registry")
    for version in ("1.0", "1.1"):
        answer = upload(send, basic(*token), project, wheel(tmp_path, "My_Tool", version), requires_python=">=3.7")
        assert (answer.status_code, answer.json()) == (201, {"message": "201 Created"})
    host = instance.url.removeprefix("http://")
    for place, version in ((f"projects/{project.id}", "1.1"), (f"groups/{group.id}/-", "1.0")):
        index = f"http://{token[0].replace('+', '%2B')}:{token[1]}@{host}/api/v4/{place}/packages/pypi/simple"
        target = tmp_path / version
        wanted = "my.tool" if version == "1.1" else "my-tool<1.1"
        command = [sys.executable, "-m", "pip", "install", "--isolated", "--disable-pip-version-check", "--no-deps"]
        subprocess.run([*command, "--no-cache-dir", "--index-url", index, "--target", str(target), wanted], check=True)
        assert (target / "My_Tool.py").read_text().startswith(f"VALUE = '{version}'")
    assert [package["name"] for package in api.get(f"{project.url}/packages", roles.owner).json()] == ["My_Tool"] * 2


def test_uploads_are_checked_and_never_replaced(
    api: Api, send: PackageClient, roles: UsersByRole, project: Project, tmp_path: Path
) -> None:
    path = wheel(tmp_path, "tool", "1.0")
    assert upload(send, roles.reporter, project, path).status_code == 403
    assert upload(send, None, project, path).status_code == 401
    assert upload(send, roles.developer, project, path, sha256_digest="0" * 64).status_code == 400
    assert upload(send, roles.developer, project, path, md5_digest="0" * 32).status_code == 400
    assert upload(send, roles.developer, project, path, name="../tool").status_code == 400
    assert upload(send, roles.developer, project, path, version="").status_code == 400
    bare = send("POST", f"{project.url}/packages/pypi", roles.developer, data={"name": "tool", "version": "1"})
    assert bare.status_code == 400
    files = {"content": ("../../x.whl", b"x", "application/octet-stream")}
    data = {"name": "tool", "version": "1.0"}
    assert send("POST", f"{project.url}/packages/pypi", roles.developer, data=data, files=files).status_code == 400
    assert api.get(f"{project.url}/packages", roles.developer).json() == []
    assert upload(send, roles.developer, project, path).status_code == 201
    assert upload(send, roles.developer, project, path).status_code == 201
    again = upload(send, roles.developer, project, wheel(tmp_path, "tool", "1.0", "changed"))
    assert (again.status_code, "already been taken" in again.text) == (400, True)


def test_pages_of_the_index(
    make: Make, send: PackageClient, roles: UsersByRole, project: Project, tmp_path: Path
) -> None:
    path = wheel(tmp_path, "Tool", "1.0")
    upload(send, roles.developer, project, path, requires_python="<4 & >=3")
    where = f"{project.url}/packages/pypi"
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    names = send("GET", f"{where}/simple/", roles.reporter)
    assert names.headers["content-type"] == "text/html; charset=utf-8"
    assert f'{where}/simple/tool/">Tool</a>' in names.text
    files = send("GET", f"{where}/simple/TOOL/", roles.reporter).text
    assert f"{where}/files/{digest}/{path.name}#sha256={digest}" in files
    assert 'data-requires-python="&lt;4 &amp; &gt;=3"' in files
    assert send("GET", f"{where}/files/{digest}/{path.name}", roles.reporter).content == path.read_bytes()
    for missing in (f"files/{digest}/other.whl", f"files/{'0' * 64}/{path.name}", "simple/other"):
        assert send("GET", f"{where}/{missing}", roles.reporter).status_code == 404
    other = make_project(make, roles.owner)
    assert send("GET", f"{other.url}/packages/pypi/files/{digest}/{path.name}", roles.owner).status_code == 404
    for caller, status in ((roles.guest, 403), (roles.stranger, 404), (None, 401)):
        assert send("GET", f"{where}/simple/tool", caller).status_code == status


def test_groups_list_readable_projects_only(
    api: Api, make: Make, send: PackageClient, roles: UsersByRole, tmp_path: Path
) -> None:
    group = make_group(make, roles.owner, visibility="public")
    private = make_project(make, roles.owner, group=group, visibility="private")
    public = make_project(make, roles.owner, group=group, visibility="public")
    upload(send, roles.owner, private, wheel(tmp_path, "hidden", "1.0"))
    upload(send, roles.owner, public, wheel(tmp_path, "shown", "1.0"))
    index = f"{group.url}/-/packages/pypi/simple"
    by_project = deploy_token(api, roles.owner, public, "read_package_registry")
    by_group = deploy_token(api, roles.owner, group, "read_package_registry")
    for caller, visible in (
        (roles.owner, True),
        (make.root, True),
        (roles.stranger, False),
        (None, False),
        (basic(*by_project), False),
        (basic(*by_group), True),
    ):
        page = send("GET", index, caller)
        assert (">shown<" in page.text, ">hidden<" in page.text) == (True, visible)
        assert send("GET", f"{index}/hidden", caller).status_code == (200 if visible else 404)


def test_groups_list_packages_within_reach_of_a_job_token(
    api: Api, make: Make, send: PackageClient, roles: UsersByRole, tmp_path: Path
) -> None:
    """The list of allowed projects applies below a group, too."""
    group = make_group(make, roles.owner)
    own, other = (make_project(make, roles.owner, group=group) for _ in range(2))
    upload(send, roles.owner, other, wheel(tmp_path, "limited", "1.0"))
    upload(send, roles.owner, own, wheel(tmp_path, "own", "1.0"))
    index, job = f"{group.url}/-/packages/pypi/simple", {"JOB-TOKEN": RunningJob(make, roles.owner, own).token}

    def readable() -> list[int]:
        return [send("GET", f"{index}/{name}", job).status_code for name in ("own", "limited")]

    assert readable() == [200, 404]
    assert ">limited<" not in send("GET", index, job).text
    allowed = api.post(f"{other.url}/job_token_scope/allowlist", roles.owner, target_project_id=own.id)
    assert allowed.status_code == 201, allowed.text
    assert readable() == [200, 200]
    api.delete(f"{other.url}/job_token_scope/allowlist/{own.id}", roles.owner)
    assert readable() == [200, 404]
    api.request("PATCH", f"{other.url}/job_token_scope", roles.owner, json={"enabled": False})
    assert readable() == [200, 200]


def test_the_size_of_files_is_limited(
    make: Make, send: PackageClient, roles: UsersByRole, project: Project, tmp_path: Path
) -> None:
    path = wheel(tmp_path, "tool", "1.0")
    size = path.stat().st_size
    with changed_settings(make, pypi_max_file_size=size - 1):
        assert upload(send, roles.developer, project, path).status_code == 413
    with changed_settings(make, pypi_max_file_size=size):
        assert upload(send, roles.developer, project, path).status_code == 201
