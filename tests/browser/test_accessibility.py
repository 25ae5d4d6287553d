"""axe-core finds nothing that keeps people out, on every page, light and dark."""

from collections.abc import Callable

import pytest

from tests.browser.conftest import Window
from tests.client import Person

PAGES = ["/", "/explore", "/projects/new", "/profile/account", "/profile/personal_access_tokens"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_keeps_anybody_out(open_window: Callable[..., Window], person: Person, scheme: str) -> None:
    window = open_window(color_scheme=scheme)
    window.open("/users/sign_in")
    found = {"/users/sign_in": window.barriers()}
    window.sign_in(person)

    for path in PAGES:
        window.open(path)
        found[path] = window.barriers()

    assert {path: barriers for path, barriers in found.items() if barriers} == {}
