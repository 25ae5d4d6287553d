"""Deploy tokens of groups: every scope against every service outside the API."""

from typing import get_args

import httpx
import pytest

from ingot.projects.deploy_tokens.params import DeployScope
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import Project, make_group, make_project
from tests.git_history import History
from tests.transport.wire import Auth, advertised

LFS_TYPE = "application/vnd.git-lfs+json"
SCOPES: tuple[str, ...] = get_args(DeployScope)


def _statuses(instance: Instance, project: Project, auth: Auth) -> dict[str, int]:
    """Return the statuses of all services for a project."""
    found = {
        f"{name} {service}": advertised(instance, f"{project.path}{suffix}", service, auth).status_code
        for name, suffix in (("repository", ".git"), ("wiki", ".wiki.git"))
        for service in ("upload", "receive")
    }
    for operation in ("download", "upload"):
        found[f"LFS {operation}"] = httpx.post(
            f"{instance.url}/{project.path}.git/info/lfs/objects/batch",
            json={"operation": operation, "objects": [{"oid": "a" * 64, "size": 1}]},
            auth=auth,
            headers={"Content-Type": LFS_TYPE, "Accept": LFS_TYPE},
        ).status_code
    return found


PAGES = [
    "",
    "/raw/master/a",
    "/-/archive/master/x.tar.gz",
    "/repository/master/archive.zip",
    "/commits/master?format=atom",
]


@pytest.mark.parametrize("scope", SCOPES)
def test_a_scope_opens_only_its_services(instance: Instance, api: Api, make: Make, scope: str) -> None:
    owner = make.user()
    group = make_group(make, owner, visibility="private")
    inside = make_project(make, owner, group=group, visibility="private")
    outside = make_project(make, owner, visibility="private")
    history = History()
    history.commit(files={"a": "a\n"})
    history.fill(instance, inside)
    made = api.post(f"{group.url}/deploy_tokens", owner, name="x", scopes=[scope]).json()
    auth = (made["username"], made["token"])

    reads = 200 if scope == "read_repository" else 403
    assert _statuses(instance, inside, auth) == {
        "repository upload": reads,
        "repository receive": 403,
        "wiki upload": reads,
        "wiki receive": 403,
        "LFS download": reads,
        "LFS upload": 403,
    }
    assert set(_statuses(instance, outside, auth).values()) == {404}
    for headers in ({"PRIVATE-TOKEN": made["token"]}, {"Authorization": f"Bearer {made['token']}"}):
        for page in PAGES:
            answer = httpx.get(f"{instance.url}/{inside.path}{page}", headers=headers)
            assert answer.status_code in (302, 401, 404), page
            assert "sign_in" in answer.headers.get("location", "sign_in")
