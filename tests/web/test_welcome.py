"""Home page of visitors who are not signed in, and the facts about the instance."""

from collections.abc import Iterator

import pytest

from tests.client import Api, Make, User
from tests.factories import make_project
from tests.web.browser import Browser

_NONE = {"title": "", "description": ""}


@pytest.fixture
def texts(api: Api, make: Make) -> Iterator[None]:
    """Restore the appearance and the registration after the test."""
    before = api.get("/application/settings", make.root).json()["signup_enabled"]
    yield
    assert api.put("/application/appearance", make.root, **_NONE).status_code == 200
    assert api.put("/application/settings", make.root, signup_enabled=before).status_code == 200


def test_visitors_see_what_the_instance_is(browser: Browser, api: Api, make: Make, person: User, texts: None) -> None:
    assert api.put("/application/settings", make.root, signup_enabled=True).status_code == 200
    public, private = (make_project(make, visibility=kind) for kind in ("public", "private"))
    page = browser.get("/").text
    assert "This server hosts git repositories" in page
    assert f'href="/{public.path}"' in page
    assert f'href="/{private.path}"' not in page
    for address in ("/users/sign_in", "/users/sign_up", "/explore", "/help#about"):
        assert f'href="{address}"' in page
    written = {"title": "Harbour <b>forge</b>", "description": "For *everyone* <script>alert(1)</script>"}
    assert api.put("/application/appearance", make.root, **written).status_code == 200
    page = browser.get("/").text
    assert "<h1>Harbour &lt;b&gt;forge&lt;/b&gt;</h1>" in page
    assert "<em>everyone</em>" in page
    assert "<script>alert" not in page
    assert "This server hosts" not in page
    assert "For you" in browser.signed_in_as(person).get("/").text


def test_register_is_offered_only_where_it_is_possible(browser: Browser, api: Api, make: Make, texts: None) -> None:
    for enabled, shown in ((False, "closed"), (True, "open")):
        assert api.put("/application/settings", make.root, signup_enabled=enabled).status_code == 200
        assert ("/users/sign_up" in browser.get("/").text) is enabled
        assert f"<dd>{shown}</dd>" in browser.get("/help").text


def test_version_is_shown_to_users_only(browser: Browser, make: Make, person: User) -> None:
    make_project(make, visibility="public")
    page = browser.get("/help").text
    assert "About this instance" in page
    assert "<dt>Public projects</dt>" in page
    assert "<dt>Version</dt>" not in page
    assert "<dt>Version</dt>" in browser.signed_in_as(person).get("/help").text
