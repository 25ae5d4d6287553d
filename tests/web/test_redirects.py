"""Redirects after sign-in and sign-out: hostile values never break the response."""

import pytest

from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import make_project
from tests.web.browser import Browser


@pytest.mark.parametrize("target", ["/a\x0bb", "/a\x01b", "/a\x7fb", "/a\tb", "/aéb c"])
def test_characters_forbidden_in_headers(instance: Instance, make: Make, target: str) -> None:
    """They used to close the connection without a response."""
    user = make.user(password="correct-horse")
    with Browser(instance.url) as browser:
        values = {"user[login]": user.username, "user[password]": user.password, "redirect_to": target}
        answer = browser.submit("/users/sign_in", "/users/sign_in", **values)
        assert answer.status_code == 302
        assert answer.headers["location"].isascii()


def test_the_return_path_keeps_its_query(instance: Instance, make: Make) -> None:
    with Browser(instance.url) as browser:
        answer = browser.get("/profile/account?x=1&y=2")
        assert answer.headers["location"] == "/users/sign_in?redirect_to=%2Fprofile%2Faccount%3Fx%3D1%26y%3D2"


def test_a_setting_cannot_break_sign_out(api: Api, make: Make) -> None:
    for path in ("/a\x7f", "http://ok.example/\x01"):
        assert api.put("/application/settings", make.root, after_sign_out_path=path).status_code == 400


def test_the_git_url_redirects_to_the_project(instance: Instance, make: Make) -> None:
    """Users open the URL copied for ``git clone``; for a hidden project it reveals as little as its page."""
    owner = make.user()
    shown, hidden = (make_project(make, owner, visibility=level) for level in ("public", "private"))
    with Browser(instance.url) as browser:
        answer = browser.get(f"/{shown.path}.git")
        assert (answer.status_code, answer.headers["location"]) == (302, f"/{shown.path}")
        assert [browser.get(f"/{path}").status_code for path in (f"{hidden.path}.git", f"{shown.path}.git.git")] == [
            404
        ] * 2
