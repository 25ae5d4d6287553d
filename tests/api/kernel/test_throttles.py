"""Rate limits by kind of request: files, packages, pages, Git LFS and protected paths."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import make_project
from tests.lfs.conftest import LfsClient, lfs
from tests.web.browser import Browser

__all__ = ["lfs"]
PASSWORD = "correct horse battery"
PERIOD = 7200
"""Twice as long as by default, so that a time until the next period shows that it counts."""
Limit = Callable[..., None]


def _waits_for_the_period(answer: httpx.Response) -> bool:
    return PERIOD / 2 < int(answer.headers["retry-after"]) <= PERIOD


def _throttle(name: str, requests: int = 1) -> dict[str, Any]:
    return {f"{name}_enabled": True, f"{name}_requests_per_period": requests, f"{name}_period_in_seconds": PERIOD}


@pytest.mark.parametrize("caller", ["authenticated", "unauthenticated"])
@pytest.mark.parametrize(
    ("throttle", "path"),
    [
        ("files_api", "/repository/files/README.md?ref=master"),
        ("packages_api", "/packages/generic/name/1.0/file"),
        ("api", "/repository/branches"),
    ],
)
def test_calls_of_one_kind(
    api: Api, make: Make, instance: Instance, limit_rates: Limit, caller: str, throttle: str, path: str
) -> None:
    owner, user = make.user(), make.user()
    project = make_project(make, owner, visibility="public", initialize_with_readme=True)
    limit_rates(**_throttle(f"throttle_{caller}_{throttle}", 2))

    headers = {"PRIVATE-TOKEN": user.token} if caller == "authenticated" else {}
    # Through httpx, because a package may be missing in a way that the document does not describe.
    answers = [httpx.get(f"{instance.url}/api/v4{project.url}{path}", headers=headers) for _ in range(3)]

    assert [answer.status_code == 429 for answer in answers] == [False, False, True]
    assert _waits_for_the_period(answers[2])
    assert answers[0].headers.get("ratelimit-remaining", "1") == "1"
    other = None if caller == "authenticated" else owner
    assert "ratelimit-limit" not in api.get(f"{project.url}/repository/branches", other).headers
    if throttle != "api":
        plain = httpx.get(f"{instance.url}/api/v4{project.url}", headers=headers)
        assert "ratelimit-limit" not in plain.headers, "Other calls are not counted."


def test_calls_with_their_own_limit_are_not_counted_twice(api: Api, make: Make, limit_rates: Limit) -> None:
    owner = make.user()
    project = make_project(make, owner, initialize_with_readme=True)
    limit_rates(**_throttle("throttle_authenticated_files_api", 5), **_throttle("throttle_authenticated_api"))

    files = [api.get(f"{project.url}/repository/files/README.md", owner, ref="master") for _ in range(3)]
    calls = [api.get(project.url, owner) for _ in range(2)]

    assert [answer.status_code for answer in files] == [200] * 3
    assert [answer.status_code for answer in calls] == [200, 429]


def test_pages_of_users(make: Make, instance: Instance, limit_rates: Limit) -> None:
    administrator = make.user(password=PASSWORD, admin=True)
    with Browser(instance.url) as browser:
        browser.signed_in_as(administrator)
        limit_rates(**_throttle("throttle_authenticated_web"), rate_limiting_response_text="Have a break <b>now</b>")

        first, second = (browser.get("/explore") for _ in range(2))

        assert first.status_code == 200
        assert second.status_code == 429
        assert "Have a break &lt;b&gt;now&lt;/b&gt;" in second.text
        assert {"ratelimit-limit", "ratelimit-reset"} <= second.headers.keys()
        assert _waits_for_the_period(second)
        assert browser.get("/admin/application_settings/rate_limits").status_code == 200, (
            "An administrator can undo the limit."
        )
        assert httpx.get(f"{instance.url}/explore").status_code == 200


@pytest.mark.parametrize("name", ["throttle_unauthenticated_web", "throttle_unauthenticated"])
def test_pages_without_a_user(make: Make, instance: Instance, limit_rates: Limit, name: str) -> None:
    with Browser(instance.url) as browser:
        browser.signed_in_as(make.user(password=PASSWORD))
        limit_rates(**_throttle(name))

        first, second = (httpx.get(f"{instance.url}/explore") for _ in range(2))
        assert (first.status_code, second.status_code) == (200, 429)
        assert _waits_for_the_period(second)
        assert [browser.get("/explore").status_code for _ in range(2)] == [200, 200]


def test_protected_paths(make: Make, instance: Instance, limit_rates: Limit) -> None:
    limit_rates(**_throttle("throttle_protected_paths"), protected_paths=["/users/password", "/api/v4/markdown"])

    with Browser(instance.url) as browser:
        form = browser.form("/users/password/new", "/users/password")
        first, second = (browser.post("/users/password", data=form.fields) for _ in range(2))
        assert first.status_code != 429
        assert second.status_code == 429
        assert _waits_for_the_period(second)
        assert browser.get("/users/password/new").status_code == 200, "Reads are not limited."
    headers = {"PRIVATE-TOKEN": make.user().token}
    texts = [
        httpx.post(f"{instance.url}/api/v4/markdown", json={"text": "x"}, headers=headers).status_code for _ in "ab"
    ]
    assert texts == [201, 429]


def test_protected_paths_of_reads(instance: Instance, limit_rates: Limit) -> None:
    with Browser(instance.url) as browser:
        limit_rates(**_throttle("throttle_protected_paths"), protected_paths_for_get_request=["/users/password"])
        statuses = [browser.get("/users/password/new").status_code for _ in range(2)]
        assert statuses == [200, 429]
        assert browser.get("/users/sign_in").status_code == 200


def test_git_without_a_user(make: Make, instance: Instance, limit_rates: Limit) -> None:
    owner = make.user()
    project = make_project(make, owner, visibility="public", initialize_with_readme=True)
    limit_rates(**_throttle("throttle_unauthenticated_git_http", 2), rate_limiting_response_text="Later")
    url = f"{instance.url}/{project.path}.git/info/refs?service=git-upload-pack"

    answers = [httpx.get(url) for _ in range(3)]

    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert answers[2].text.strip() == "Later"
    assert _waits_for_the_period(answers[2])
    assert [httpx.get(url, auth=("x", owner.token)).status_code for _ in range(3)] == [200, 200, 200]
    assert httpx.get(f"{instance.url}/api/v4{project.url}").status_code == 200


def test_git_lfs(make: Make, lfs: LfsClient, limit_rates: Limit) -> None:
    owner, other = make.user(), make.user()
    project = make_project(make, owner, visibility="public")
    limit_rates(**_throttle("throttle_authenticated_git_lfs"), rate_limiting_response_text="Later")

    answers = [lfs.batch(project, owner, "download") for _ in range(2)]

    assert [answer.status_code for answer in answers] == [200, 429]
    assert answers[1].json()["message"] == "Later"
    assert _waits_for_the_period(answers[1])
    assert lfs.batch(project, other, "download").status_code == 200


def test_an_administrator_can_undo_a_limit(api: Api, make: Make, limit_rates: Limit) -> None:
    administrator = make.user(admin=True)
    limit_rates(**_throttle("throttle_authenticated_api"))

    assert [api.get("/user", administrator).status_code for _ in range(2)] == [200, 429]
    changed = api.put("/application/settings", administrator, throttle_authenticated_api_enabled=False)
    assert changed.status_code == 200


@pytest.mark.parametrize(
    "sent",
    [
        {"search_rate_limit": -1},
        {"notes_create_limit": "many"},
        {"throttle_authenticated_web_requests_per_period": 0},
        {"throttle_unauthenticated_web_period_in_seconds": None},
        {"protected_paths": ["users"]},
        {"protected_paths_for_get_request": ["users"]},
        {"search_rate_limit_allowlist": [f"user{number}" for number in range(101)]},
    ],
)
def test_invalid_limits_are_refused(api: Api, make: Make, sent: dict[str, Any]) -> None:
    assert api.put("/application/settings", make.root, **sent).status_code == 400
