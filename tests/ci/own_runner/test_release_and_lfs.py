"""Releases that jobs create, and files in Git LFS, with a real server and the built-in runner."""

import hashlib
from collections.abc import Iterator

import httpx
import pytest

from tests.ci.own_runner.flow_server import BINARY, FlowServer, flow_server
from tests.server.process import TOKEN

pytestmark = pytest.mark.skipif(bool(BINARY), reason="gitlab-runner needs git-lfs and release-cli on the machine")
CONTENT = b"large file\n" * 1000
RELEASES = """
text:
  script: [echo built]
  release:
    tag_name: v$VERSION
    name: Version $VERSION
    description: First release
    tag_message: tagged
    released_at: '2026-01-02T03:04:05Z'
    milestones: [m1]
    assets: {links: [{name: page, url: 'https://example.org/a', filepath: /docs/a, link_type: runbook}]}
  variables: {VERSION: 1.0}
file:
  script: [echo "notes of the file" > notes.md]
  release: {tag_name: v2, description: notes.md}
failed:
  script: [exit 3]
  release: {tag_name: v3, description: never}
twice:
  stage: deploy
  when: always
  script: [echo x]
  release: {tag_name: v2, description: again}
"""


@pytest.fixture(scope="module")
def flow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlowServer]:
    """Yield a server with a runner."""
    with flow_server(tmp_path_factory.mktemp("flow")) as server:
        yield server


def test_release(flow: FlowServer) -> None:
    url = flow.project("releases", {"README.md": "x"})
    flow.call("POST", f"{url}/milestones", 201, title="m1")
    sha = flow.commit(url, {".gitlab-ci.yml": RELEASES})
    pipeline = flow.newest_pipeline(url)
    flow.wait_for_pipeline(url, pipeline["id"])
    jobs = flow.jobs(url, pipeline["id"])
    assert {name: job["status"] for name, job in jobs.items()} == {
        "text": "success",
        "file": "success",
        "failed": "failed",
        "twice": "failed",
    }
    assert "Release already exists" in flow.trace(url, jobs["twice"])
    releases = {release["tag_name"]: release for release in flow.call("GET", f"{url}/releases", 200)}
    assert releases.keys() == {"v1.0", "v2"}
    first = releases["v1.0"]
    assert (first["name"], first["description"], first["commit"]["id"]) == ("Version 1.0", "First release", sha)
    assert first["released_at"].startswith("2026-01-02T03:04:05")
    assert [milestone["title"] for milestone in first["milestones"]] == ["m1"]
    (link,) = first["assets"]["links"]
    assert (link["name"], link["url"], link["link_type"]) == ("page", "https://example.org/a", "runbook")
    assert releases["v2"]["description"] == "notes of the file\n"


def _upload(flow: FlowServer, path: str, content: bytes) -> str:
    """Upload a file in Git LFS and return its pointer."""
    oid = hashlib.sha256(content).hexdigest()
    auth = ("root", TOKEN)
    wanted = {"operation": "upload", "objects": [{"oid": oid, "size": len(content)}]}
    with httpx.Client(base_url=flow.server.url) as client:
        batch = client.post(f"/{path}.git/info/lfs/objects/batch", json=wanted, auth=auth)
        action = batch.json()["objects"][0]["actions"]["upload"]
        stored = client.put(action["href"], content=content, headers=action["header"])
        assert stored.status_code == 200, stored.text
    return f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize {len(content)}\n"


def test_lfs_files(flow: FlowServer) -> None:
    url = flow.project("lfs", {"README.md": "x"})
    path = flow.call("GET", url, 200)["path_with_namespace"]
    pointer = _upload(flow, path, CONTENT)
    digest = hashlib.sha256(CONTENT).hexdigest()
    file = f"""
files:
  script:
    - echo "{digest}  data/a.bin" | sha256sum -c
    - git diff --exit-code
    - grep -q '^version https' plain.bin.txt
pointers:
  stage: deploy
  when: always
  variables: {{GIT_LFS_SKIP_SMUDGE: 1, GIT_STRATEGY: clone}}
  script: [grep -q '^version https' data/a.bin]
"""
    files = {".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n", "data/a.bin": pointer}
    flow.commit(url, {**files, "plain.bin.txt": pointer, ".gitlab-ci.yml": file})
    pipeline = flow.newest_pipeline(url)
    flow.wait_for_pipeline(url, pipeline["id"])
    jobs = flow.jobs(url, pipeline["id"])
    assert {name: job["status"] for name, job in jobs.items()} == {"files": "success", "pointers": "success"}, [
        flow.trace(url, job) for job in jobs.values()
    ]
    flow.commit(url, {"gone.bin": pointer.replace(digest, "0" * 64)})
    pipeline = flow.newest_pipeline(url)
    flow.wait_for_pipeline(url, pipeline["id"])
    failed = flow.jobs(url, pipeline["id"])["files"]
    assert (failed["status"], failed["failure_reason"]) == ("failed", "runner_system_failure")
    assert "Git LFS: " in flow.trace(url, failed)
