"""Concurrent calls on hooks, on several servers."""

from tests.api.races.concurrent_servers import ConcurrentCall, ConcurrentServers
from tests.client import Api, Make
from tests.factories import make_project


def test_concurrent_additions_to_a_hook_are_all_stored(api: Api, make: Make, servers: ConcurrentServers) -> None:
    """Headers and variables share a column; no addition overwrites another."""
    project = make_project(make)
    made = api.post(f"{project.url}/hooks", make.root, url="https://example.com/").json()
    hook = f"{project.url}/hooks/{made['id']}"
    for _ in range(3):
        headers = [
            ConcurrentCall("PUT", f"{hook}/custom_headers/X-{name}", make.root, {"value": "x"}) for name in "ABCDEF"
        ]
        variables = [
            ConcurrentCall("PUT", f"{hook}/url_variables/{name}", make.root, {"value": "x"}) for name in "abcdef"
        ]
        assert set(servers.race(*headers, *variables)) == {204}
        found = api.get(hook, make.root).json()
        assert {each["key"] for each in found["custom_headers"]} == {f"X-{name}" for name in "ABCDEF"}
        assert {each["key"] for each in found["url_variables"]} == set("abcdef")
        emptied = {"url": "https://example.com/", "custom_headers": [], "url_variables": []}
        assert api.put(hook, make.root, **emptied).status_code == 200
