"""Import of the files of Git LFS."""

import httpx

from tests.api.imports.conftest import ImportingInstance
from tests.client import Api, Make
from tests.factories import make_project
from tests.lfs.conftest import LfsClient, oid_of

HELD, SECRET = b"content of the source" * 10, b"content of another project" * 10


def _pointer(content: bytes) -> str:
    return f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid_of(content)}\nsize {len(content)}\n"


def test_lfs_files_are_downloaded_from_the_source(importing: ImportingInstance, api: Api, make: Make) -> None:
    """A file that the source lacks stays missing, even if another project of this instance has it."""
    source = make_project(make)
    hidden = make_project(importing.make)
    with httpx.Client(timeout=60) as client:
        at_source = LfsClient(importing.source.url, client)
        here = LfsClient(importing.second.url, client)
        at_source.upload(source, make.root, HELD)
        here.upload(hidden, importing.root, SECRET)
        actions = [
            {"action": "create", "file_path": name, "content": _pointer(content)}
            for name, content in (("held.bin", HELD), ("secret.bin", SECRET))
        ]
        sent = {"branch": "master", "commit_message": "Add files", "actions": actions}
        committed = api.request("POST", f"{source.url}/repository/commits", make.root, json=sent)
        assert committed.status_code == 201, committed.text
        for _ in range(2):
            entity = importing.import_project(source.path, "with-files")
            assert entity["status"] == "finished", entity
            reasons = [failure["exception_message"] for failure in entity["failures"]]
            assert [reason for reason in reasons if "LFS" in reason] == [
                f"The LFS object {oid_of(SECRET)} is not available at the source."
            ]
        found = here.get("root/with-files", importing.root, HELD)
        assert (found.status_code, found.content) == (200, HELD)
        assert here.get("root/with-files", importing.root, SECRET).status_code == 404
