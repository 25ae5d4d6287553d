"""Projects and groups: single reads and pages against F1, and every list against a small instance."""

import statistics
from typing import NamedTuple

from bench.load import get, requests_per_second
from bench.namespace_data import MEMBER, MEMBER_NAME, NamespaceData
from bench.user_data import TOKEN

SLOWEST = 1.5


class Measured(NamedTuple):
    """Results by call."""

    shares: dict[str, float]
    """Requests per second over F1."""
    slowdowns: dict[str, float]
    """Time with 10,000 projects over the time with 1,000."""


def _lists(namespace_data: NamespaceData) -> dict[str, bytes]:
    project_id = namespace_data.belonging[0]
    group_id = next(group_id for group_id, _, visibility in namespace_data.groups if visibility == "public")
    paths = {
        "projects": "/projects",
        "projects, page 10": "/projects?page=10",
        "projects, membership": "/projects?membership=true",
        "projects, owned": "/projects?owned=true",
        "projects, starred": "/projects?starred=true",
        "projects, min_access_level": "/projects?min_access_level=30",
        "projects, archived": "/projects?archived=false",
        "projects, private": "/projects?visibility=private",
        "projects, public": "/projects?visibility=public",
        "projects, with_issues_enabled": "/projects?with_issues_enabled=true",
        "projects, keyset": "/projects?pagination=keyset&order_by=id",
        "projects, by name": "/projects?order_by=name&sort=asc",
        "projects, by path": "/projects?order_by=path&sort=asc",
        "projects, by activity": "/projects?order_by=last_activity_at",
        "projects, by stars": "/projects?order_by=star_count",
        # Both instances contain at least a page.
        "projects, search": "/projects?search=project-77&per_page=5",
        "projects, search, whole page": "/projects?search=project-77",
        "projects, search by name": "/projects/search/project-77?per_page=5",
        "projects of a user": "/users/tree-person-5/projects",
        "projects starred by a user": f"/users/{MEMBER_NAME}/starred_projects",
        "project's members": f"/projects/{project_id}/members",
        "project's users": f"/projects/{project_id}/users",
        "project's forks": f"/projects/{project_id}/forks",
        "groups": "/groups",
        "groups, all_available": "/groups?all_available=true",
        "group's projects": f"/groups/{group_id}/projects?include_subgroups=true",
        "group's subgroups": f"/groups/{group_id}/subgroups",
        "group's descendants": f"/groups/{group_id}/descendant_groups",
        "group's members": f"/groups/{group_id}/members/all",
        "namespaces": "/namespaces",
    }
    lists = {name: get(f"/api/v4{path}", MEMBER) for name, path in paths.items()}
    lists |= {"projects, as nobody": get("/api/v4/projects"), "projects, as root": get("/api/v4/projects", TOKEN)}
    return lists


def measure(
    large: tuple[int, NamespaceData], small: tuple[int, NamespaceData], seconds: float, rounds: int
) -> Measured:
    """Measure two servers by port, in turns, so that other load on the machine slows both alike."""
    (port, large_data), (other, small_data) = large, small
    of_member = [get(f"/api/v4/projects/{project_id}", MEMBER) for project_id in large_data.belonging[:64]]
    single = {"GET /projects/:id": of_member, "page as a member of 500": [_lists(large_data)["projects, membership"]]}
    constant = [get("/api/v4/bench")]
    shares = {
        name: statistics.median(
            requests_per_second(port, requests, seconds) / requests_per_second(port, constant, seconds)
            for _ in range(rounds)
        )
        for name, requests in single.items()
    }
    few = _lists(small_data)
    slowdowns = {
        name: statistics.median(
            requests_per_second(other, [few[name]], seconds / 4) / requests_per_second(port, [request], seconds / 4)
            for _ in range(rounds)
        )
        for name, request in _lists(large_data).items()
    }
    return Measured(shares, slowdowns)
