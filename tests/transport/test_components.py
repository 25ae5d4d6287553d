"""The component that responds to a request: the first of the list in ``app.py`` that handles it."""

import pytest

from ingot.core.http.deferred_component import DeferredComponent
from ingot.core.http.request import Message, Origin, Request
from tests.conftest import Instance


async def _receive() -> Message:
    return {"type": "http.disconnect"}


@pytest.mark.parametrize(
    ("path", "component"),
    [
        ("/api/v4/projects", "ApiComponent"),
        ("/api/v4", "ApiComponent"),
        ("/api/v3/projects/1/uploads", "ApiComponent"),
        ("/api/graphql", "GraphqlComponent"),
        ("/api/v4/docs", "PagesComponent"),
        ("/apis/v4", "PagesComponent"),
        ("/group/project.git/info/lfs/objects/batch", "LfsHttp"),
        ("/group/project.git/gitlab-lfs/objects/1234", "LfsHttp"),
        ("/group/project.git/info/refs", "GitHttp"),
        ("/group/project/git-upload-pack", "GitHttp"),
        ("/group/project.git/HEAD", "GitHttp"),
        ("/group/project", "PagesComponent"),
        ("/", "PagesComponent"),
    ],
)
def test_first_component_that_handles_a_path(instance: Instance, path: str, component: str) -> None:
    request = Request("GET", path.encode(), b"", {}, Origin("", "", "", ""), _receive)
    chosen = next(each for each in instance.app.components if each.handles(request))
    built = chosen.component if isinstance(chosen, DeferredComponent) else chosen
    assert type(built).__name__ == component
