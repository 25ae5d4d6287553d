"""Limit of the addresses of each user."""

import httpx
import pytest

from ingot.accounts.instance import limits
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import changed_settings, later, make_project


def _get(api: Api, path: str, user: User, address: str) -> httpx.Response:
    with httpx.Client(transport=httpx.HTTPTransport(local_address=address)) as client:
        return client.get(f"{api.url}{path}", headers={"PRIVATE-TOKEN": user.token})


def test_further_addresses_are_refused(
    api: Api, make: Make, instance: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "RELOAD_SECONDS", -1.0)
    user, other = make.user(), make.user()
    project = make_project(make, user)
    with changed_settings(
        make, unique_ips_limit_enabled=True, unique_ips_limit_per_user=2, unique_ips_limit_time_window=600
    ):
        statuses = [_get(api, "/api/v4/user", user, f"127.0.0.{last}").status_code for last in (1, 2, 3, 1, 2)]
        assert statuses == [200, 200, 403, 200, 200]
        refused = _get(api, "/api/v4/user", user, "127.0.0.3")
        assert refused.json()["message"] == "Too many addresses: each user may use 2 in 600 seconds."
        assert 0 < int(refused.headers["retry-after"]) <= 600
        git = f"/{project.path}.git/info/refs?service=git-upload-pack"
        assert [_get(api, git, user, f"127.0.0.{last}").status_code for last in (1, 3)] == [200, 403]
        assert _get(api, "/api/v4/user", other, "127.0.0.3").status_code == 200
        with later(instance, seconds=601):
            assert _get(api, "/api/v4/user", user, "127.0.0.3").status_code == 200
    assert _get(api, "/api/v4/user", user, "127.0.0.4").status_code == 200


def test_tokens_for_files_on_pages_are_limited_too(
    api: Api, make: Make, instance: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "RELOAD_SECONDS", -1.0)
    user = make.user()
    project = make_project(make, user, visibility="private", initialize_with_readme=True)
    page = f"/{project.path}/-/raw/master/README.md"
    feed = f"/{project.path}/-/issues.atom"
    with changed_settings(
        make, unique_ips_limit_enabled=True, unique_ips_limit_per_user=1, unique_ips_limit_time_window=600
    ):
        assert _get(api, page, user, "127.0.0.1").status_code == 200
        refused = [_get(api, path, user, "127.0.0.2").status_code for path in (page, feed, "/api/v4/user")]
        assert refused == [403, 403, 403]
        with httpx.Client(transport=httpx.HTTPTransport(local_address="127.0.0.2")) as client:
            assert client.get(f"{api.url}{page}", headers={"PRIVATE-TOKEN": "unknown"}).status_code in (401, 404)
            assert client.get(f"{api.url}{page}").status_code == 404


def test_the_container_registry_is_limited_too(
    api: Api, make: Make, instance: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "RELOAD_SECONDS", -1.0)
    user = make.user()
    token_path = "/jwt/auth?service=container_registry"

    def get(path: str, address: str, **headers: str) -> httpx.Response:
        with httpx.Client(transport=httpx.HTTPTransport(local_address=address), auth=basic, headers=headers) as client:
            return client.get(f"{api.url}{path}")

    basic: tuple[str, str] | None = (user.username, user.token)
    with changed_settings(
        make, unique_ips_limit_enabled=True, unique_ips_limit_per_user=1, unique_ips_limit_time_window=600
    ):
        answer = get(token_path, "127.0.0.1")
        assert answer.status_code == 200
        assert [get(path, "127.0.0.2").status_code for path in (token_path, "/v2/")] == [403, 403]
        basic, bearer = None, f"Bearer {answer.json()['token']}"
        statuses = [get("/v2/", f"127.0.0.{last}", authorization=bearer).status_code for last in (1, 2)]
        assert statuses == [200, 403]
        assert get("/v2/", "127.0.0.2").status_code == 401
