"""Accessibility and geometry of the pages of repositories, pipelines, packages, wikis and snippets."""

from collections.abc import Callable

import pytest

from tests.browser.conftest import BrowserWindow
from tests.browser.page_checks import VISITORS, check_area
from tests.sample_data.records import SampleData


@pytest.mark.parametrize("visitor", VISITORS)
def test_code_pages(open_window: Callable[..., BrowserWindow], samples: SampleData, visitor: str) -> None:
    check_area(open_window, samples, visitor, "code")
