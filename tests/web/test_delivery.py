"""Compression and caching of pages."""

import gzip

import httpx

from tests.client import Make, User
from tests.factories import make_project
from tests.web.browser import Browser


def raw(browser: Browser, path: str, **headers: str) -> httpx.Response:
    """Open a page as the browser does, without decompressing it."""
    with httpx.Client(base_url=browser.url, cookies=browser.cookies) as client:
        request = client.build_request("GET", path, headers=headers)
        answer = client.send(request, stream=True)
        answer._content = b"".join(answer.iter_raw())
        return answer


def test_pages_are_compressed_for_browsers_that_accept_it(browser: Browser, make: Make, person: User) -> None:
    project = make_project(make, person, visibility="public")
    browser.get("/explore")
    path = f"/{project.path}"
    plain = raw(browser, path, **{"accept-encoding": "identity"})
    packed = raw(browser, path, **{"accept-encoding": "gzip, br"})
    assert "content-encoding" not in plain.headers and "accept-encoding" in plain.headers["vary"]
    assert packed.headers["content-encoding"] == "gzip"
    assert gzip.decompress(packed.content) == plain.content
    assert int(packed.headers["content-length"]) == len(packed.content) < len(plain.content) / 2


def test_the_weight_of_gzip_is_respected(browser: Browser) -> None:
    browser.get("/explore")
    for accepted, is_packed in (
        ("gzip;q=0", False),
        ("br, GZIP; q=0.0", False),
        ("x-gzip2", False),
        ("br, gzip;q=0.5", True),
    ):
        for path in ("/explore", "/assets/ingot.css"):
            answer = raw(browser, path, **{"accept-encoding": accepted})
            assert ("content-encoding" in answer.headers) == is_packed, (path, accepted)


def test_small_responses_are_not_compressed(browser: Browser) -> None:
    answer = raw(browser, "/-/diagram_frame", **{"accept-encoding": "gzip"})
    assert "content-encoding" not in answer.headers and len(answer.content) < 1_000


def test_visitors_revalidate_pages(browser: Browser, make: Make, person: User) -> None:
    project = make_project(make, person, visibility="public")
    first = browser.get(f"/{project.path}")
    assert first.headers["cache-control"] == "no-store", "It sets the cookie of the visitor."
    page = browser.get(f"/{project.path}")
    assert page.headers["cache-control"] == "private, no-cache" and "cookie" in page.headers["vary"]
    same = browser.get(f"/{project.path}", headers={"If-None-Match": page.headers["etag"]})
    assert (same.status_code, same.content) == (304, b"")
    other = browser.get("/explore", headers={"If-None-Match": page.headers["etag"]})
    assert other.status_code == 200 and other.headers["etag"] != page.headers["etag"]


def test_pages_of_users_are_never_stored(browser: Browser, make: Make, person: User) -> None:
    project = make_project(make, person, visibility="public")
    browser.get("/explore")
    etag = browser.get(f"/{project.path}").headers["etag"]
    browser.signed_in_as(person)
    for path in ("/", f"/{project.path}", f"/{project.path}/-/issues", "/profile/account", "/no/such/page"):
        answer = browser.get(path, headers={"If-None-Match": etag})
        assert answer.headers["cache-control"] == "no-store" and "etag" not in answer.headers, path
        assert answer.status_code in (200, 404), path


def test_pages_with_secrets_in_their_address_are_never_stored(browser: Browser) -> None:
    browser.get("/explore")
    for path in ("/users/sign_in", "/users/password/edit?reset_password_token=abc", "/users/sign_up"):
        assert browser.get(path).headers["cache-control"] == "no-store", path
