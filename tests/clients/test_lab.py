"""Requests of lab and other clients of the Go library that the tests of other clients do not cover."""

import httpx

from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import make_project


def test_a_position_of_nulls_is_ignored(api: Api, make: Make) -> None:
    """``lab mr discussion 1 -m text`` sends a position whose only field is null."""
    project = make_project(make, initialize_with_readme=True)
    url = f"/projects/{project.id}"
    sent = {"branch": "topic", "start_branch": "master", "content": "x", "commit_message": "Add"}
    assert api.post(f"{url}/repository/files/x", make.root, **sent).status_code == 201
    branches = {"source_branch": "topic", "target_branch": "master"}
    made = api.post(f"{url}/merge_requests", make.root, title="Add", **branches).json()
    discussions = f"{url}/merge_requests/{made['iid']}/discussions"
    for position in ({"position_type": None}, {}, None):
        begun = api.request("POST", discussions, make.root, json={"body": "text", "position": position})
        assert begun.status_code == 201, begun.text
        assert (begun.json()["notes"][0]["type"], begun.json()["notes"][0].get("position")) == ("DiscussionNote", None)
    half = api.request("POST", discussions, make.root, json={"body": "text", "position": {"new_line": 1}})
    assert half.status_code == 400


def test_a_missing_api_is_reported_as_json(instance: Instance, make: Make) -> None:
    """Clients parse the response as JSON."""
    headers = {"Authorization": f"Bearer {make.root.token}"}
    for path in ("/api/graphql/v2", "/api/v5/user", "/api", "/api/"):
        answer = httpx.post(instance.url + path, headers=headers, json={"query": "{ currentUser { username } }"})
        assert (answer.status_code, answer.json()) == (404, {"error": "404 Not Found"})
        assert answer.headers["content-type"] == "application/json"


def test_settings_have_the_types_that_clients_decode(api: Api, make: Make) -> None:
    """The Go library decodes one number from a string, and rejects all settings otherwise."""
    assert isinstance(api.get("/application/settings", make.root).json()["polling_interval_multiplier"], str)
