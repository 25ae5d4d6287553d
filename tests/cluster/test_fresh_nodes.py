"""Freshly started nodes: what they load on demand is loaded while no transaction holds a lock."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx

from tests.cluster.node import Node
from tests.recording_server import FINDINGS_FILE

PROJECTS_PER_NODE = 2


def test_fresh_nodes_import_nothing_within_transactions(nodes: list[Node], tmp_path: Path) -> None:
    findings = tmp_path / "findings.txt"
    findings.touch()
    for node in nodes:
        node.module = "tests.recording_server"
        node.serve(**{FINDINGS_FILE: str(findings)})
    group = nodes[0].call("POST", "/groups", json={"name": "Group", "path": "group"}).json()["id"]

    def create(number: int) -> httpx.Response:
        sent = {"name": f"project {number}", "namespace_id": group, "initialize_with_readme": True}
        return nodes[number % len(nodes)].call("POST", "/projects", json=sent)

    count = PROJECTS_PER_NODE * len(nodes)
    with ThreadPoolExecutor(count) as pool:
        created = list(pool.map(create, range(count)))

    assert [each.status_code for each in created] == [201] * count
    assert sorted(project["name"] for project in nodes[0].call("GET", f"/groups/{group}/projects").json()) == [
        f"project {number}" for number in range(count)
    ]
    assert findings.read_text() == ""
