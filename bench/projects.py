"""Projects and groups: single reads and pages against F1, and every list against the same list in a small forest."""

import statistics
from typing import NamedTuple

from bench.forest import MEMBER, MEMBER_NAME, Forest
from bench.load import get, requests_per_second
from bench.people import TOKEN

SLOWEST = 1.5


class Measured(NamedTuple):
    """What came out, by call."""

    shares: dict[str, float]
    """Requests per second over F1."""
    slowdowns: dict[str, float]
    """The time in the large forest over that in the small one."""


def _lists(forest: Forest) -> dict[str, bytes]:
    project_id = forest.belonging[0]
    group_id = next(group_id for group_id, _, visibility in forest.groups if visibility == "public")
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
        # As many as a page holds are found in both forests.
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


def measure(large: tuple[int, Forest], small: tuple[int, Forest], seconds: float, rounds: int) -> Measured:
    """Measure on the ports of two servers, in turns, so that what else runs on the machine slows both alike."""
    (port, forest), (other, bush) = large, small
    of_member = [get(f"/api/v4/projects/{project_id}", MEMBER) for project_id in forest.belonging[:64]]
    single = {"GET /projects/:id": of_member, "page as a member of 500": [_lists(forest)["projects, membership"]]}
    constant = [get("/api/v4/bench")]
    shares = {
        name: statistics.median(
            requests_per_second(port, requests, seconds) / requests_per_second(port, constant, seconds)
            for _ in range(rounds)
        )
        for name, requests in single.items()
    }
    few = _lists(bush)
    slowdowns = {
        name: statistics.median(
            requests_per_second(other, [few[name]], seconds / 4) / requests_per_second(port, [request], seconds / 4)
            for _ in range(rounds)
        )
        for name, request in _lists(forest).items()
    }
    return Measured(shares, slowdowns)
