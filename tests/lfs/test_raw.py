"""Raw content of LFS pointer files."""

import secrets

import pytest

from ingot.repositories.lfs.pointers import parse_pointer
from tests.client import Api, Make, User
from tests.factories import Project, make_project
from tests.lfs.conftest import LfsClient, oid_of
from tests.roles import UsersByRole, project_with

VERSION = "version https://git-lfs.github.com/spec/v1\n"


def pointer_to(content: bytes) -> str:
    """Return the pointer file that clients commit."""
    return f"{VERSION}oid sha256:{oid_of(content)}\nsize {len(content)}\n"


def commit(api: Api, person: User, project: Project, name: str, text: str) -> str:
    """Commit a file and return the URL of its raw content."""
    sent = {"branch": "master", "commit_message": f"Add {name}", "content": text}
    assert api.post(f"/projects/{project.id}/repository/files/{name}", person, **sent).status_code == 201
    return f"/projects/{project.id}/repository/files/{name}/raw"


def test_raw_content_is_the_lfs_object_or_the_pointer(api: Api, make: Make, roles: UsersByRole, lfs: LfsClient) -> None:
    project = project_with(make, roles, visibility="private")
    content = secrets.token_bytes(300_000)
    lfs.upload(project, roles.developer, content)
    pointer = pointer_to(content)
    url = commit(api, roles.owner, project, "big.bin", pointer)
    for without in ({}, {"lfs": False}):
        assert api.get(url, roles.reporter, ref="master", **without).text == pointer
    large = api.get(url, roles.reporter, ref="master", lfs=True)
    assert (large.status_code, large.content) == (200, content)
    assert large.headers["content-type"] == "application/octet-stream"
    assert large.headers["content-disposition"] == 'attachment; filename="big.bin"'
    assert large.headers["content-security-policy"] == "sandbox; default-src 'none'"
    assert large.headers["etag"] == f'"{oid_of(content)}"'
    asked = {"ref": "master", "lfs": "true"}
    part = api.request("GET", url, roles.reporter, params=asked, headers={"Range": "bytes=299990-"})
    assert (part.status_code, part.content) == (206, content[299_990:])
    head = api.request("HEAD", url, roles.reporter, params=asked)
    assert (head.status_code, head.headers["content-length"], head.content) == (200, "300000", b"")
    assert api.get(url, roles.guest, ref="master", lfs=True).status_code == 403
    assert api.get(url, roles.stranger, ref="master", lfs=True).status_code == 404
    assert api.get(url, roles.reporter, ref="master", lfs="maybe").status_code == 400
    plain = commit(api, roles.owner, project, "plain.txt", "hello\n")
    assert api.get(plain, roles.reporter, ref="master", lfs=True).text == "hello\n"

    assert api.put(f"/projects/{project.id}", roles.owner, lfs_enabled=False).status_code == 200
    assert api.get(url, roles.reporter, ref="master", lfs=True).text == pointer


def test_a_pointer_reveals_no_object_of_another_project(
    api: Api, make: Make, roles: UsersByRole, lfs: LfsClient
) -> None:
    """Attack: commit a pointer with the digest of a file in another project."""
    secret = secrets.token_bytes(1000)
    lfs.upload(project_with(make, roles, visibility="private"), roles.owner, secret)
    own = make_project(make, roles.stranger)
    for name, text in {"theirs": pointer_to(secret), "nowhere": pointer_to(b"never brought")}.items():
        url = commit(api, roles.stranger, own, name, text)
        refused = api.get(url, roles.stranger, ref="master", lfs=True)
        assert (refused.status_code, refused.json()) == (404, {"message": "404 File Not Found"})


OID = "5" * 64
NOT_POINTERS = [
    "",
    f"oid sha256:{OID}\nsize 1\n",
    f"{VERSION}oid sha256:{'5' * 63}/\nsize 1\n",
    f"{VERSION}oid sha256:../../{'5' * 58}\nsize 1\n",
    f"{VERSION}oid sha256:{OID}\n",
    f"{VERSION}oid sha256:{OID}\nsize -1\n",
    f"{VERSION}oid sha256:{OID}\nsize 1\nmore\n",
    f"\n{VERSION}oid sha256:{OID}\nsize 1\n",
    VERSION + "ext-0-x y\n" * 200 + f"oid sha256:{OID}\nsize 1\n",
]


@pytest.mark.parametrize("text", NOT_POINTERS)
def test_other_texts_are_not_pointers(text: str) -> None:
    assert parse_pointer(text.encode()) is None


@pytest.mark.parametrize("between", ["", f"ext-0-case-inverter sha256:{'6' * 64}\n"])
def test_pointers_are_recognized(between: str) -> None:
    assert parse_pointer(f"{VERSION}{between}oid sha256:{OID}\nsize 12345\n".encode()) == OID
    assert parse_pointer(None) is None
