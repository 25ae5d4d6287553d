"""Avatars of private objects, for browsers and API clients."""

from typing import Any

import httpx
import pytest

from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import make_group, make_project
from tests.web.test_uploads import sign_in

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 32


def _pictured(api: Api, make: Make, owner: User, kind: str) -> dict[str, Any]:
    made = make_group(make, owner) if kind == "groups" else make_project(make, owner, visibility="private")
    url = f"/{kind}/{made.id}"
    if kind == "groups":
        assert api.put(url, owner, visibility="private").status_code == 200
    answer = api.request("PUT", url, owner, files={"avatar": ("it.png", PNG)})
    assert answer.status_code == 200, answer.text
    view: dict[str, Any] = answer.json()
    return view


@pytest.mark.parametrize("kind", ["projects", "groups"])
def test_a_token_reads_a_visible_avatar(instance: Instance, api: Api, make: Make, kind: str) -> None:
    """In every position; other users get the same response as for a missing one."""
    owner, stranger = make.user(password="a long password"), make.user()
    view = _pictured(api, make, owner, kind)
    url = view["avatar_url"]

    def status(**options: Any) -> int:
        answer = httpx.get(url, **options)
        assert (answer.content == PNG) == (answer.status_code == 200)
        return answer.status_code

    assert status(headers={"PRIVATE-TOKEN": owner.token}) == 200
    assert status(headers={"Authorization": f"Bearer {owner.token}"}) == 200
    assert status(params={"private_token": owner.token}) == 200
    assert status(headers={"PRIVATE-TOKEN": stranger.token}) == 404
    assert status(headers={"PRIVATE-TOKEN": "wrong"}) == 401
    assert status() == 404
    with httpx.Client(base_url=instance.url) as browser:
        sign_in(browser, owner)
        assert browser.get(url).content == PNG
        # A token takes precedence over a cookie.
        assert browser.get(url, headers={"PRIVATE-TOKEN": stranger.token}).status_code == 404


def test_the_api_returns_the_avatar_itself(api: Api, make: Make) -> None:
    owner, stranger = make.user(), make.user()
    for kind in ("projects", "groups"):
        view = _pictured(api, make, owner, kind)
        path = {"projects": f"/projects/{view['id']}/avatar", "groups": f"/groups/{view['id']}/avatar"}[kind]
        got = api.get(path, owner)
        assert (got.status_code, got.content, got.headers["content-type"]) == (200, PNG, "image/png")
        assert [api.get(path, who).status_code for who in (make.root, stranger, None)] == [200, 404, 401]
        api.request("PUT", f"/{kind}/{view['id']}", owner, data={"avatar": ""})
        assert api.get(path, owner).status_code == 404
