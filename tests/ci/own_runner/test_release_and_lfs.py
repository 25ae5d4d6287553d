"""Releases that jobs create, and files in Git LFS, with a real server and the built-in runner."""

import hashlib
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import httpx
import pytest

from tests.ci.own_runner.flow_server import BINARY, FlowServer, flow_server
from tests.server.process import TOKEN

pytestmark = pytest.mark.skipif(bool(BINARY), reason="gitlab-runner needs git-lfs and release-cli on the machine")
CONTENT = b"large file\n" * 1000
RELEASES = r"""
text:
  script: [echo built]
  release:
    tag_name: v$VERSION
    name: Version "$VERSION" `x`
    description: |-
      - Say "hi" to `users` of C:\new \\ for $5 and $(echo "a b") \$HOME ${VERSION}\
      don't $ANSI ${VERSION%.0} $$ $( 'quoted' !x
    tag_message: tagged
    released_at: '2026-01-02T03:04:05Z'
    milestones: [m1]
    assets:
      links: [{name: 'page "$VERSION" `x` \ y', url: 'https://example.org/a', filepath: /docs/a, link_type: runbook}]
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
    assert (first["name"], first["commit"]["id"]) == ('Version "1.0" `x`', sha)
    assert first["description"] == (
        "- Say \"hi\" to `users` of C:\\new \\\\ for $5 and a b $HOME 1.0\\\ndon't  1 $$ $( 'quoted' !x"
    )
    assert first["released_at"].startswith("2026-01-02T03:04:05")
    assert [milestone["title"] for milestone in first["milestones"]] == ["m1"]
    (link,) = first["assets"]["links"]
    assert (link["name"], link["url"], link["link_type"]) == (
        'page "1.0" `x` \\ y',
        "https://example.org/a",
        "runbook",
    )
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
    - git diff --exit-code && test -z "$(git status --porcelain)"
    - git rm -q --cached data/a.bin && git reset -q --hard
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


def test_lfs_files_of_submodules(flow: FlowServer, tmp_path: Path) -> None:
    part = flow.project("part", {".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n"})
    path = flow.call("GET", part, 200)["path_with_namespace"]
    flow.commit(part, {"a.bin": _upload(flow, path, CONTENT)})
    middle = flow.project("middle", {"README.md": "x"})
    for url in (part, middle):
        flow.call("PATCH", f"{url}/job_token_scope", 204, enabled=False)
    _add_submodule(flow, middle, "../part.git", tmp_path / "middle")
    whole = flow.project("whole", {"README.md": "x"})
    digest = hashlib.sha256(CONTENT).hexdigest()
    check = f"sha256sum sub/sub/a.bin | grep {digest}"
    jobs_file = f"""
recursive:
  variables: {{GIT_SUBMODULE_STRATEGY: recursive}}
  script:
    - {check}
    - test -z "$(git status --porcelain)" && git diff --exit-code
    - cd sub/sub && git checkout -q HEAD~1 && git checkout -q -
again:
  stage: deploy
  variables: {{GIT_SUBMODULE_STRATEGY: recursive}}
  script:
    - {check}
"""
    _add_submodule(flow, whole, "../middle.git", tmp_path / "whole", {".gitlab-ci.yml": jobs_file})
    for _ in range(2):
        pipeline = flow.newest_pipeline(whole)
        flow.wait_for_pipeline(whole, pipeline["id"])
        jobs = flow.jobs(whole, pipeline["id"])
        assert {name: job["status"] for name, job in jobs.items()} == {"recursive": "success", "again": "success"}, [
            flow.trace(whole, job) for job in jobs.values()
        ]
        flow.call("POST", f"{whole}/pipeline", 201, ref="main")


def _add_submodule(
    flow: FlowServer, url: str, address: str, folder: Path, files: Mapping[str, str] | None = None
) -> None:
    """Commit a submodule ``sub`` and push it."""
    path = flow.call("GET", url, 200)["path_with_namespace"]

    def git(*arguments: str, directory: Path = folder) -> None:
        run = ["git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org", *arguments]
        subprocess.run(run, cwd=directory, check=True, capture_output=True)

    remote = flow.server.url.replace("//", f"//root:{TOKEN}@")
    git("clone", "-q", f"{remote}/{path}.git", str(folder), directory=folder.parent)
    git("submodule", "add", "-q", address, "sub")
    for name, text in (files or {}).items():
        (folder / name).write_text(text)
    git("add", ".")
    git("commit", "-q", "-m", "Add a submodule")
    git("push", "-q", "origin", "HEAD")


def test_release_is_published_in_the_catalog(flow: FlowServer) -> None:
    url = flow.project("components", {"README.md": "# Tools", "templates/deploy.yml": "deploy: {script: [make]}\n"})
    flow.call("PUT", url, 200, description="Tools")
    flow.call("POST", f"{url}/catalog", 201)
    flow.commit(
        url, {".gitlab-ci.yml": "publish: {script: [echo x], release: {tag_name: 1.0.0, description: First}}\n"}
    )
    pipeline = flow.newest_pipeline(url)
    flow.wait_for_pipeline(url, pipeline["id"])
    assert flow.jobs(url, pipeline["id"])["publish"]["status"] == "success"
    (version,) = flow.call("GET", f"{url}/catalog/versions", 200)
    assert (version["name"], [each["name"] for each in version["components"]]) == ("1.0.0", ["deploy"])
