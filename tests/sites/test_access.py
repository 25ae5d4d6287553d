"""Sites that only members may see."""

import re
from urllib.parse import urlsplit

import httpx
import pytest

from tests.client import Make, User
from tests.conftest import Instance
from tests.factories import add_members, later, make_group
from tests.sites.site import SiteProject, site_project
from tests.web.browser import Browser

SECRET = {"public/index.html": b"for members"}


@pytest.fixture
def site(make: Make, instance: Instance) -> SiteProject:
    """Return a site that only members may see, in a public project."""
    site = site_project(make, instance, pages_access_level="private")
    site.deploy(SECRET)
    return site


def _cookies(answer: httpx.Response) -> str:
    pairs = [value.partition(";")[0] for value in answer.headers.get_list("set-cookie")]
    return "; ".join(pair for pair in pairs if not pair.endswith("="))


def _member(make: Make, site: SiteProject) -> User:
    member = make.user(password="correct horse battery")
    add_members(make, site.project, {member: 10})
    return member


def _sign_in(site: SiteProject, user: User) -> str:
    """Visit the site as a browser does, and return the cookies that it then has for the site."""
    first = site.get("/")
    assert first.status_code == 302
    forge = urlsplit(first.headers["location"])
    assert f"{forge.scheme}://{forge.netloc}" == site.instance.url
    with Browser(site.instance.url) as browser:
        browser.signed_in_as(user)
        back = browser.get(f"{forge.path}?{forge.query}")
    assert back.status_code == 302, back.text
    target = urlsplit(back.headers["location"])
    assert target.netloc == site.host
    finished = site.request("GET", f"{target.path}?{target.query}", cookie=_cookies(first))
    assert finished.status_code == 302, finished.text
    assert urlsplit(finished.headers["location"])[1:3] == (site.host, f"/{site.name}/")
    return _cookies(finished)


def test_members_sign_in_through_the_forge(make: Make, site: SiteProject) -> None:
    cookies = _sign_in(site, _member(make, site))
    shown = site.get("/", cookie=cookies)
    assert (shown.status_code, shown.content) == (200, b"for members")
    assert shown.headers["cache-control"] == "private, no-cache"
    assert "access-control-allow-origin" not in shown.headers


def test_others_see_nothing_as_if_there_were_no_site(make: Make, site: SiteProject) -> None:
    stranger = make.user(password="correct horse battery")
    cookies = _sign_in(site, stranger)
    hidden = site.get("/", cookie=cookies)
    missing = site.request("GET", "/no-such-project/", cookie=cookies)
    assert (hidden.status_code, missing.status_code) == (404, 404)
    assert hidden.content == missing.content
    assert site.get("/", sec_fetch_mode="cors").status_code == 404


def test_the_end_of_the_membership_ends_the_access(make: Make, site: SiteProject) -> None:
    member = _member(make, site)
    cookies = _sign_in(site, member)
    assert site.get("/", cookie=cookies).status_code == 200
    make.api.delete(f"{site.project.url}/members/{member.id}", make.root)
    assert site.get("/", cookie=cookies).status_code == 404


def test_cookies_are_short_lived_and_bound_to_the_host(make: Make, instance: Instance, site: SiteProject) -> None:
    cookies = _sign_in(site, _member(make, site))
    assert site.request("GET", f"/{site.name}/", "other.pages.test", cookie=cookies).status_code == 302
    with later(instance, minutes=11):
        assert site.get("/", cookie=cookies).status_code == 302


def test_codes_are_bound_to_the_browser_and_the_host(make: Make, site: SiteProject) -> None:
    first = site.get("/")
    forge = urlsplit(first.headers["location"])
    with Browser(site.instance.url) as browser:
        browser.signed_in_as(_member(make, site))
        target = urlsplit(browser.get(f"{forge.path}?{forge.query}").headers["location"])
    callback = f"{target.path}?{target.query}"
    assert site.request("GET", callback).status_code == 400
    assert site.request("GET", callback, cookie=_cookies(site.get("/"))).status_code == 400
    assert site.request("GET", callback, "other.pages.test", cookie=_cookies(first)).status_code == 400
    assert site.request("GET", "/-/pages/callback?code=x.y", cookie=_cookies(first)).status_code == 400


def test_a_private_site_without_a_home_page_is_hidden_too(make: Make, instance: Instance) -> None:
    config = "preview: {script: build, pages: {path_prefix: preview}}"
    site = site_project(make, instance, config, pages_access_level="private")
    site.deploy(SECRET)
    # Without a cookie, paths of this project look like those of projects that do not exist.
    for path in ("/", "/preview/", "/other/"):
        assert site.get(path).status_code == site.request("GET", f"/no-such-project{path}").status_code == 302
        assert site.get(path, sec_fetch_mode="cors").status_code == 404
    cookies = _sign_in(site, _member(make, site))
    assert site.get("/preview/", cookie=cookies).content == b"for members"
    assert site.get("/", cookie=cookies).status_code == 404


def test_the_sign_in_returns_to_the_site_only(make: Make, site: SiteProject) -> None:
    first = site.get("/")
    nonce = _cookies(first).partition("=")[2]
    with Browser(site.instance.url) as browser:
        browser.signed_in_as(_member(make, site))
        asked = {"return_to": f"http://{site.host}//evil.example/", "nonce": nonce}
        target = urlsplit(browser.get("/-/pages/authorize", params=asked).headers["location"])
    finished = site.request("GET", f"{target.path}?{target.query}", cookie=_cookies(first))
    assert finished.headers["location"] == f"http://{site.host}//evil.example/"


@pytest.mark.parametrize(
    "url",
    [
        "http://evil.example/",
        "https://x.pages.test/",
        "http://x.pages.test:81/",
        "http://pages.test/",
        "//x",
        "http://[",
    ],
)
def test_the_forge_identifies_users_to_sites_only(make: Make, instance: Instance, url: str) -> None:
    with Browser(instance.url) as browser:
        browser.signed_in_as(make.user(password="correct horse battery"))
        refused = browser.get("/-/pages/authorize", params={"return_to": url, "nonce": "n" * 24})
    assert refused.status_code == 404


def test_a_site_cannot_use_the_session_of_a_visitor(make: Make, site: SiteProject) -> None:
    member = _member(make, site)
    cookies = _sign_in(site, member)
    # Whatever a site knows of its visitor opens nothing at the forge.
    value = re.split("=", cookies, maxsplit=1)[1]
    with httpx.Client() as client:
        for name in ("ingot_site", "_service_session"):
            shown = client.get(f"{site.instance.url}/profile", headers={"cookie": f"{name}={value}"})
            assert shown.status_code == 302
            assert "/users/sign_in" in shown.headers["location"]
        asked = client.get(f"{site.instance.url}/api/v4/user", headers={"PRIVATE-TOKEN": value})
        assert asked.status_code == 401
    # And the session of the forge is no cookie of the site.
    with Browser(site.instance.url) as browser:
        browser.signed_in_as(member)
        session = "; ".join(f"{cookie}={text}" for cookie, text in browser.cookies.items())
    assert site.get("/", cookie=session).status_code == 302


def test_levels_follow_the_visibility_of_the_project(make: Make, instance: Instance) -> None:
    site = site_project(make, instance)
    site.deploy(SECRET)
    stranger = make.user()
    access = f"{site.project.url}/pages_access"

    def levels() -> tuple[int, int, int]:
        return (
            site.get("/").status_code,
            make.api.get(access).status_code,
            make.api.get(access, stranger).status_code,
        )

    assert levels() == (200, 200, 200)
    make.api.put(site.project.url, make.root, pages_access_level="private")
    assert levels() == (302, 403, 403)
    make.api.put(site.project.url, make.root, visibility="private", pages_access_level="public")
    assert levels() == (200, 404, 404)


def test_sites_are_closed_to_other_addresses(make: Make, instance: Instance) -> None:
    """Public sites and those of members answer like none, except to administrators; tests come from 127.0.0.1."""
    owner, member = make.user(), make.user(password="correct horse battery")
    admin = make.user(admin=True, password="correct horse battery")
    group = make_group(make, owner, visibility="public", members={member: 40})

    def restrict(ranges: str) -> None:
        assert make.api.put(group.url, owner, ip_restriction_ranges=ranges).status_code == 200

    for level in ("public", "private"):
        site = site_project(make, instance, namespace_id=group.id, pages_access_level=level)
        site.deploy(SECRET)
        if level == "public":
            shown = site.get("/")
            assert (shown.status_code, shown.headers["cache-control"]) == (200, "max-age=600")
        restrict("192.0.2.0/24")
        hidden, missing = site.get("/"), site.request("GET", "/no-such-project/")
        assert (hidden.status_code, missing.status_code) == (302, 302)
        assert site.get("/", sec_fetch_mode="cors").status_code == 404
        cookies, of_admin = _sign_in(site, member), _sign_in(site, admin)
        hidden, missing = (site.request("GET", f"/{name}/", cookie=cookies) for name in (site.name, "no-such-project"))
        assert (hidden.status_code, hidden.content) == (missing.status_code, missing.content)
        assert hidden.status_code == 404
        assert site.get("/", cookie=of_admin).content == b"for members"
        restrict("192.0.2.0/24, 127.0.0.0/8")
        shown = site.get("/", cookie=cookies)
        assert (shown.content, shown.headers["cache-control"]) == (b"for members", "private, no-cache")
        restrict("")
