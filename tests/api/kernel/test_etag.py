"""ETags: 304 for unchanged responses."""

import pytest

from tests.client import Api, Make, User


def _conditional(api: Api, path: str, caller: User, tag: str) -> int:
    return api.request("GET", path, caller, headers={"If-None-Match": tag}).status_code


@pytest.mark.parametrize("spelling", ["{tag}", "*", '"other", {tag}', "{strong}", '"other",{tag}'])
def test_an_unchanged_response_is_not_sent_again(api: Api, make: Make, spelling: str) -> None:
    user = make.user()
    first = api.get("/user", user)
    tag = first.headers["etag"]
    sent = spelling.format(tag=tag, strong=tag.removeprefix("W/"))

    again = api.request("GET", "/user", user, headers={"If-None-Match": sent})

    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["etag"] == tag
    assert "content-type" not in again.headers
    assert _conditional(api, "/user", user, '"other"') == 200


def test_the_etag_depends_on_content_and_caller(api: Api, make: Make) -> None:
    user, path = make.user(), ""
    path = f"/users/{user.id}"
    tag = api.get(path, user).headers["etag"]
    assert _conditional(api, path, user, tag) == 304
    assert _conditional(api, path, make.root, tag) == 200

    api.put(path, make.root, bio="Something else")

    assert _conditional(api, path, user, tag) == 200


def test_the_etag_depends_on_the_total(api: Api, make: Make) -> None:
    """A new item on a later page changes the links of the first page."""
    user = make.user()
    for _ in range(2):
        api.post("/user/emails", user, email=f"{make.name()}@example.org")
    path = "/user/emails?per_page=1"
    first = api.get(path, user)
    assert _conditional(api, path, user, first.headers["etag"]) == 304

    api.post("/user/emails", user, email=f"{make.name()}@example.org")

    second = api.get(path, user)
    assert second.headers["x-total"] == "3"
    assert second.headers["etag"] != first.headers["etag"]
    assert _conditional(api, path, user, first.headers["etag"]) == 200


def test_writes_and_errors_have_no_etag(api: Api, make: Make) -> None:
    user = make.user()

    assert "etag" not in api.put("/user/status", user, message="x").headers
    assert "etag" not in api.get("/users/0", user).headers
    star = {"If-None-Match": "*"}
    assert api.request("PUT", "/user/status", user, headers=star).status_code == 200
    assert api.request("GET", "/users/0", user, headers=star).status_code == 404
    assert api.request("GET", "/user", headers=star).status_code == 401


def test_responses_are_private_and_revalidated(api: Api, make: Make) -> None:
    assert api.get("/user", make.user()).headers["cache-control"] == "max-age=0, private, must-revalidate"
