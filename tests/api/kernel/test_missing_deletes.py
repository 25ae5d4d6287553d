"""DELETE of a missing object: 200 with an empty body, as the OpenAPI document says for every endpoint."""

import typing

import pytest

from ingot.core.api.openapi import described_paths
from ingot.core.api.routes import Endpoint
from ingot.server.api_document import api_document
from ingot.server.registry import all_endpoints
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import make_group, make_project
from tests.git_history import History

DELETES = [endpoint for endpoint in all_endpoints() if endpoint.method == "DELETE"]
# A deletion that is accepted with 202 has a test of its own.
RETURNING = sorted(endpoint.path for endpoint in DELETES if endpoint.returns is not None and endpoint.status == 200)


@pytest.fixture(scope="module")
def containers(instance: Instance, api: Api, make: Make) -> dict[str, str]:
    """Return paths of existing containers by the beginning of the declared path."""
    owner = make.root
    project, group = make_project(make, owner), make_group(make, owner)
    history = History()
    history.commit(files={"a": "a\n"})
    history.fill(instance, project)
    issue = api.post(f"{project.url}/issues", owner, title="x").json()
    tag = api.post(f"{project.url}/repository/tags", owner, tag_name="v1", ref="master")
    assert tag.status_code == 201, tag.text
    release = api.post(f"{project.url}/releases", owner, tag_name="v1", description="x")
    assert release.status_code == 201, release.text
    return {
        "/projects/:id/issues/:issue_iid": f"{project.url}/issues/{issue['iid']}",
        "/projects/:id/releases/:tag_name/assets": f"{project.url}/releases/v1/assets",
        "/projects/:id": project.url,
        "/groups/:id": group.url,
    }


@pytest.mark.parametrize("path", RETURNING)
def test_an_object_that_does_not_exist(api: Api, make: Make, containers: dict[str, str], path: str) -> None:
    """The client compares the content type and the body with the document."""
    url = path
    for declared, existing in containers.items():
        if path.startswith(f"{declared}/"):
            url = existing + path.removeprefix(declared)
            break
    head, _, _ = url.rpartition("/")
    params = {"branch": "master", "commit_message": "x"} if "repository/files" in path else {}
    for _ in range(2):
        response = api.delete(f"{head}/987654321", make.root, **params)
        assert (response.status_code, response.content) == (200, b""), response.text


def test_the_document_describes_both_responses() -> None:
    """The deleted object as JSON, or nothing; an endpoint without JSON has no content at all."""
    paths = api_document()["paths"]

    def success(endpoint: Endpoint) -> dict[str, typing.Any]:
        responses = paths[described_paths(endpoint)[""]]["delete"]["responses"]
        described: dict[str, typing.Any] = responses[str(endpoint.status)]
        return described

    for endpoint in DELETES:
        content = success(endpoint).get("content", {})
        if endpoint.returns is None:
            assert content == {}, endpoint.path
        else:
            assert content["text/plain"]["schema"] == {"type": "string", "maxLength": 0}, endpoint.path
            assert "null" not in str(content["application/json"]), endpoint.path
