"""Accessibility and geometry of pages that exist only while the instance has a setting."""

from collections.abc import Callable
from dataclasses import replace

from tests.browser.conftest import BrowserWindow
from tests.browser.page_checks import PageChecker
from tests.client import Make
from tests.factories import changed_settings
from tests.sample_data.addresses import OFF
from tests.sample_data.records import SampleData

TERMS, ENTRANCE = "/-/users/terms", "/admin/session/new"
_TEXT = "## Conduct\n\nBe **kind**, and read [the details](https://example.org/).\n\n1. One\n2. Two\n"


def test_all_pages_of_settings_are_checked_here() -> None:
    assert set(OFF) == {TERMS, ENTRANCE}


def test_terms_of_service(open_window: Callable[..., BrowserWindow], samples: SampleData, make: Make) -> None:
    """As others read them, and with the form of a user who must accept them."""
    with changed_settings(make, terms=_TEXT, enforce_terms=True):
        reader = open_window().set_session(make.root)
        assert PageChecker(reader).faults(TERMS) == []
        assert PageChecker(open_window().set_session(samples.colleague)).faults(TERMS) == []


def test_admin_mode(open_window: Callable[..., BrowserWindow], samples: SampleData, make: Make) -> None:
    root = make.root.with_token(make.token(make.root.id, "api", "admin_mode"))
    window = open_window().set_session(samples.make.root)
    with changed_settings(replace(make, root=root), admin_mode=True):
        assert PageChecker(window).faults(ENTRANCE) == []
