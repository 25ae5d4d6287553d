"""GraphQL: one project with twenty issues, their authors and labels, as a multiple of the same data by REST calls."""

import statistics
import time
from collections.abc import Callable, Iterator

import httpx

from bench.repositories import Measurement
from bench.user_data import TOKEN

ISSUES = 20
LABELS = 3
REPETITIONS = 200
_QUERY = """
query project($path: ID!) {
  project(fullPath: $path) {
    id name fullPath webUrl description visibility
    issues(first: 20, sort: CREATED_DESC) {
      nodes {
        id iid title description state createdAt updatedAt webUrl
        author { id username name avatarUrl webUrl }
        labels { nodes { id title color description } }
      }
    }
  }
}
"""


def measure_graphql(port: int) -> Iterator[Measurement]:
    """Measure a query and two calls; the repetitions of both alternate, each on one connection."""
    with httpx.Client(base_url=f"http://127.0.0.1:{port}/api", headers={"PRIVATE-TOKEN": TOKEN}) as client:
        project = _fill(client)
        query = {"query": _QUERY, "variables": {"path": project["path_with_namespace"]}}

        def by_graphql() -> None:
            nodes = client.post("/graphql", json=query).json()["data"]["project"]["issues"]["nodes"]
            _check([(node["author"], node["labels"]["nodes"]) for node in nodes])

        def by_rest() -> None:
            client.get(f"/v4/projects/{project['id']}").raise_for_status()
            options = {"per_page": ISSUES, "with_labels_details": True}
            found = client.get(f"/v4/projects/{project['id']}/issues", params=options).json()
            _check([(issue["author"], issue["labels"]) for issue in found])

        for work in (by_graphql, by_rest):
            _seconds(work)
        times = [(_seconds(by_graphql), _seconds(by_rest)) for _ in range(REPETITIONS)]
    asked, called = (statistics.median(column) for column in zip(*times, strict=True))
    multiple, note = asked / called, f"{asked * 1000:.1f} ms and {called * 1000:.1f} ms"
    yield Measurement("20 issues by GraphQL / by REST", multiple, "<= 2.00", multiple <= 2.0, note)


def _fill(client: httpx.Client) -> dict[str, str]:
    project: dict[str, str] = client.post("/v4/projects", json={"name": "queried"}).json()
    issues = f"/v4/projects/{project['id']}/issues"
    for number in range(ISSUES):
        labels = ",".join(f"label-{(number + each) % 7}" for each in range(LABELS))
        sent = {"title": f"Issue {number}", "description": "Text of the issue. " * 10, "labels": labels}
        client.post(issues, json=sent).raise_for_status()
    return project


def _check(found: list[tuple[object, list[object]]]) -> None:
    if len(found) != ISSUES or not all(author and len(labels) == LABELS for author, labels in found):
        raise RuntimeError("The response is incomplete")


def _seconds(work: Callable[[], None]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
