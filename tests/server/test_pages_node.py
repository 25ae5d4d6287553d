"""``ingot pages``: a process of its own that serves nothing but the sites of an instance."""

import io
import zipfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests import fork_server
from tests.free_ports import free_ports
from tests.server.process import Server, environment, ingot, until

HOST = "pages.test"
CONFIG = "pages:\n  script: build\n  artifacts: {paths: [public]}\n"


class PagesNode(Server):
    """``ingot pages`` with the data of another server."""

    def __init__(self, other: Server, tmp_path: Path, *workers: str, **settings: str) -> None:
        super().__init__(tmp_path / "node", other.database_url)
        port, self.sites_port = free_ports(2)
        self.url = f"http://127.0.0.1:{port}"
        words = ["pages", "--data", str(other.data), "--port", str(port), *workers]
        words += ["--database-url", other.database_url] if other.database_url else []
        chosen = environment(
            INGOT_RUN_DIR=str(tmp_path / "node-run"),
            INGOT_NODE_NAME="sites-1",
            INGOT_PAGES_URL=f"http://{HOST}",
            INGOT_PAGES_PORT=str(self.sites_port),
            **settings,
        )
        with self._log.open("ab") as log:
            self.process = fork_server.start(
                "ingot", *words, stdout=log.fileno(), stderr=log.fileno(), env=chosen, new_session=True
            )
        until("readiness", lambda: self._running() and self.ready() == 200)

    def get(self, path: str, host: str, port: int | None = None) -> httpx.Response:
        """Request a path of a host."""
        url = self.url if port is None else f"http://127.0.0.1:{port}"
        return httpx.get(url + path, headers={"host": host})


@pytest.fixture(params=[(), ("--workers", "2")])
def node(initialized: Server, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[PagesNode]:
    """Yield a node for the sites of a running server."""
    initialized.start(INGOT_PAGES_URL=f"http://{HOST}")
    node = PagesNode(initialized, tmp_path, *request.param)
    try:
        yield node
    finally:
        node.kill()


def _deploy(server: Server) -> None:
    """Publish a site of root's project ``site`` with a job."""
    project = _created(server, "/projects", name="site", visibility="public")
    commit = [{"action": "create", "file_path": ".gitlab-ci.yml", "content": CONFIG}]
    _created(
        server, f"/projects/{project['id']}/repository/commits", branch="main", commit_message="Add", actions=commit
    )
    runner = _created(server, "/user/runners", runner_type="project_type", project_id=project["id"])
    job = _created(server, "/jobs/request", token=runner["token"])
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("public/index.html", "of another process")
    headers = {"JOB-TOKEN": job["token"]}
    files = {"file": ("artifacts.zip", packed.getvalue())}
    sent = httpx.post(f"{server.url}/api/v4/jobs/{job['id']}/artifacts", headers=headers, files=files)
    assert sent.status_code == 201, sent.text
    ended = server.call("PUT", f"/jobs/{job['id']}", json={"token": job["token"], "state": "success"})
    assert ended.status_code == 200, ended.text


def _created(server: Server, path: str, **body: Any) -> dict[str, Any]:
    made = server.call("POST", path, json=body)
    assert made.status_code == 201, made.text
    answer: dict[str, Any] = made.json()
    return answer


def _serves(node: PagesNode, port: int | None) -> bool:
    return node.get("/site/", f"root.{HOST}", port).text == "of another process"


def test_it_serves_the_sites_of_another_process_and_nothing_else(initialized: Server, node: PagesNode) -> None:
    """Sites are on both ports; health checks are on that of HTTP only, as a site has all paths of its own port."""
    _deploy(initialized)
    for port in (None, node.sites_port):
        until("the site", partial(_serves, node, port))
        for path in ("/", "/api/v4/version", "/users/sign_in", "/root/site.git/info/refs?service=git-upload-pack"):
            assert node.get(path, "forge.test", port).status_code == 404, path
    assert set(node.get("/-/readiness", "any.test").json()) == {"status", "database_check", "disk_check"}
    assert node.get("/-/readiness", "any.test", node.sites_port).status_code == 404


def test_it_is_a_node_with_a_role_of_its_own(initialized: Server, node: PagesNode) -> None:
    def listed() -> dict[str, Any] | None:
        nodes = initialized.call("GET", "/admin/nodes").json()
        return next((each for each in nodes if each["name"] == "sites-1"), None)

    shown = until("the report of the node", listed)
    assert shown["roles"] == ["pages"]
    assert shown["address"].rpartition(":")[2] == node.url.rpartition(":")[2]
    assert initialized.ready() == 200


def test_it_needs_an_instance_with_sites(initialized: Server, tmp_path: Path) -> None:
    missing = ingot("pages", "--data", tmp_path / "other", INGOT_PAGES_URL=f"http://{HOST}")
    assert missing.returncode == 1 and "there is no instance" in missing.stderr
    assert not (tmp_path / "other").exists()
    off = ingot("pages", "--data", initialized.data)
    assert (off.returncode, off.stderr) == (1, "ingot: pages_url or pages_port must be set to serve sites\n")
