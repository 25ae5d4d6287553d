"""Views that pages share until the next commit (see ``cached_responses``)."""

from collections.abc import Callable

import pytest

from ingot.core.access.levels import Level
from ingot.core.api import cached_responses
from ingot.core.api.responses import encode
from ingot.core.db.paging import Listing
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import make_project
from tests.sample_data.addresses import addresses
from tests.sample_data.records import open_sample_data
from tests.sample_data.texts import SampleTexts
from tests.statements import recorded_statements
from tests.web.browser import Browser
from tests.web.conftest import PASSWORD


def _json(result: object) -> bytes:
    return encode(result.items if isinstance(result, Listing) else result)


def test_no_page_changes_the_views_that_it_gets(
    instance: Instance, make: Make, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    cached: list[tuple[object, bytes]] = []
    measure = cached_responses.bytes_of_views

    def noted(result: object) -> int | None:
        size = measure(result)
        if size is not None:
            cached.append((result, _json(result)))
        return size

    monkeypatch.setattr(cached_responses, "bytes_of_views", noted)
    with open_sample_data(instance, make, SampleTexts(hostile=False)) as samples:
        browser.signed_in_as(samples.owner)
        for page in addresses(samples):
            if page.sent is None:
                browser.get(page.path)
    assert len(cached) > 20
    assert [first for result, first in cached if _json(result) != first] == []


def test_pages_of_each_user_show_visible_issues_only(
    api: Api, make: Make, instance: Instance, open_browser: Callable[[], Browser]
) -> None:
    master, guest = make.user(password=PASSWORD), make.user(password=PASSWORD)
    project = make_project(make, visibility="private", members={master: Level.MASTER, guest: Level.GUEST})
    api.post(f"{project.url}/issues", make.root, title="Hidden words", confidential=True)
    api.post(f"{project.url}/issues", make.root, title="Known words")
    first, second = open_browser().signed_in_as(master), open_browser().signed_in_as(guest)
    path = f"/{project.path}/-/issues"
    for _ in range(3):
        assert "Hidden words" in first.get(path).text
        shown = second.get(path).text
        assert "Known words" in shown
        assert "Hidden words" not in shown
    reads = []
    for _ in range(3):  # Another thread may commit meanwhile.
        with recorded_statements(instance.app.database) as statements:
            assert "Hidden words" in first.get(path).text
            reads.append(sum("FROM issues" in text for text in statements))
    assert min(reads) == 0

    api.put(f"{project.url}/issues/2", make.root, title="New words")
    assert "New words" in second.get(path).text
    api.delete(f"{project.url}/members/{guest.id}", make.root)
    assert second.get(path).status_code == 404
