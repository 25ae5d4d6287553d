"""Avatars of users: types detected from their bytes, served so that nothing in them can run."""

from typing import Any

import httpx
import pytest

from tests.client import Api, Make, User

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 64
KINDS: dict[str, tuple[bytes, str]] = {
    "png": (PNG, "image/png"),
    "jpg": (b"\xff\xd8\xff\xe0" + b"\0" * 64, "image/jpeg"),
    "gif": (b"GIF89a" + b"\0" * 64, "image/gif"),
    "webp": (b"RIFF\0\0\0\0WEBP" + b"\0" * 64, "image/webp"),
}


def _put(api: Api, make: Make, user: User, content: bytes, name: str = "face.png", kind: str = "image/png") -> Any:
    return api.request("PUT", f"/users/{user.id}", make.root, files={"avatar": (name, content, kind)})


@pytest.mark.parametrize("kind", KINDS)
def test_an_image_is_stored_and_served_with_safe_headers(api: Api, make: Make, kind: str) -> None:
    user = make.user()
    content, content_type = KINDS[kind]

    answer = _put(api, make, user, content, f"my face.{kind}", "text/html")

    assert answer.status_code == 200
    url = answer.json()["avatar_url"]
    assert url.startswith(f"{api.url}/uploads/-/system/user/avatar/{user.id}/")
    served = httpx.get(url)
    assert (served.status_code, served.content) == (200, content)
    assert served.headers["content-type"] == content_type, "The declared content type is ignored."
    assert served.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in served.headers["content-security-policy"]


REFUSED: dict[str, tuple[str, bytes]] = {
    "SVG": ("a.svg", b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"),
    "SVG under another name": ("a.png", b"<?xml version='1.0'?><svg onload='alert(1)'/>"),
    "HTML": ("a.png", b"<html><script>alert(1)</script>"),
    "nothing": ("a.png", b""),
    "TIFF": ("a.jpg", b"II*\0" + b"\0" * 64),
    "DjVu": ("a.jpg", b"AT&TFORM" + b"\0" * 64),
    "a program": ("a.png", b"\x7fELF" + b"\0" * 64),
    "too large": ("a.png", PNG + b"\0" * 200 * 1024),
}


@pytest.mark.parametrize("what", REFUSED)
def test_invalid_images_are_rejected_and_the_old_one_stays(api: Api, make: Make, what: str) -> None:
    """Attack: content that browsers would run, formats with vulnerable parsers, and wrong extensions."""
    user = make.user()
    before = _put(api, make, user, PNG).json()["avatar_url"]

    refused = _put(api, make, user, REFUSED[what][1], REFUSED[what][0])

    assert refused.status_code == 400
    assert set(refused.json()["message"]) == {"avatar"}
    assert api.get(f"/users/{user.id}", make.root).json()["avatar_url"] == before
    assert httpx.get(before).content == PNG


def test_a_new_avatar_replaces_the_old_one_and_an_empty_value_removes_it(api: Api, make: Make) -> None:
    user = make.user()
    first = _put(api, make, user, PNG, "first.png").json()["avatar_url"]
    second = _put(api, make, user, PNG + b"2", "second.png").json()["avatar_url"]
    assert (httpx.get(first).status_code, httpx.get(second).content) == (404, PNG + b"2")

    api.put(f"/users/{user.id}", make.root, bio="Something else")
    assert api.get(f"/users/{user.id}", make.root).json()["avatar_url"] == second

    removed = api.request("PUT", f"/users/{user.id}", make.root, data={"avatar": ""})
    assert (removed.status_code, removed.json()["avatar_url"]) == (200, None)
    assert httpx.get(second).status_code == 404


def test_users_set_and_remove_their_own_avatar(api: Api, make: Make) -> None:
    user = make.user()
    files = {"avatar": ("me.png", PNG, "image/png")}
    stored = api.request("PUT", "/user/avatar", user, files=files)
    assert stored.status_code == 200, stored.text
    assert httpx.get(stored.json()["avatar_url"]).content == PNG
    assert api.get("/user", user).json()["avatar_url"] == stored.json()["avatar_url"]
    refused = api.request("PUT", "/user/avatar", user, files={"avatar": ("me.png", b"<svg>", "image/png")})
    assert (refused.status_code, list(refused.json()["message"])) == (400, ["avatar"])
    assert api.request("PUT", "/user/avatar", files=files).status_code == 401
    removed = api.request("PUT", "/user/avatar", user, data={"avatar": ""})
    assert (removed.status_code, removed.json()) == (200, {"avatar_url": None})


@pytest.mark.parametrize(
    "name", ["../../etc/passwd.png", "a/b.png", "..png", "a\"b'<>.png", "ä" * 300 + ".png", ".png"]
)
def test_file_names_are_sanitized(api: Api, make: Make, name: str) -> None:
    answer = _put(api, make, make.user(), PNG, name)

    assert answer.status_code == 200
    url = httpx.URL(answer.json()["avatar_url"])
    assert url.path.count("/") == 7
    assert ".." not in url.path
    assert httpx.get(url).content == PNG


def test_create_a_user_with_an_avatar(api: Api, make: Make) -> None:
    username = make.name("pictured")
    form = {"username": username, "email": f"{username}@example.org", "name": "x", "password": "long-enough"}

    made = api.request("POST", "/users", make.root, data=form, files={"avatar": ("face.png", PNG)})

    assert made.status_code == 201
    assert httpx.get(made.json()["avatar_url"]).content == PNG


def test_an_avatar_is_found_under_its_own_name_only(api: Api, make: Make) -> None:
    user, other = make.user(), make.user()
    url = _put(api, make, user, PNG).json()["avatar_url"]

    assert httpx.get(url.replace("face.png", "other.png")).status_code == 404
    assert httpx.get(url.replace(f"/{user.id}/", f"/{other.id}/")).status_code == 404
    assert httpx.get(url.replace(f"/{user.id}/", "/0/")).status_code == 404


def test_an_avatar_is_found_by_a_public_email_address_only(api: Api, make: Make) -> None:
    user, caller = make.user(), make.user()
    url = _put(api, make, user, PNG).json()["avatar_url"]
    email = api.get(f"/users/{user.id}", make.root).json()["email"]

    assert api.get("/avatar", caller, email=email).json() == {"avatar_url": None}
    assert api.put(f"/users/{user.id}", make.root, public_email=email).status_code == 200
    assert api.get("/avatar", caller, email=email.upper(), size=32).json() == {"avatar_url": url}
    assert api.get("/avatar", caller, email="").json() == {"avatar_url": None}
    assert api.get("/avatar", caller).status_code == 400
    assert api.get("/avatar", email=email).status_code == 401
