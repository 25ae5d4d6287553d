"""Saved views of lists of issues and merge requests."""

from collections.abc import Callable
from typing import NamedTuple

import pytest

from ingot.collaboration.planning.saved_views.service import MAX_VIEWS
from ingot.collaboration.planning.saved_views.tables import saved_views
from ingot.core.access.levels import Level
from ingot.core.db.connection import Connection
from tests.client import Make, User
from tests.conftest import Instance
from tests.factories import make_group, make_project
from tests.web.browser import Browser, forms_of
from tests.web.conftest import PASSWORD

Open = Callable[[], Browser]
HOSTILE = "<script>alert(1)</script>\"'"


class Lists(NamedTuple):
    """Bases of the lists of a project, a group and the dashboard, and users who see and do not see them."""

    owner: User
    guest: User
    stranger: User
    bases: dict[str, str]


@pytest.fixture(scope="module")
def lists(make: Make) -> Lists:
    """Return a private group with a project."""
    owner, guest, stranger = (make.user(password=PASSWORD) for _ in range(3))
    group = make_group(make, owner, members={guest: Level.REPORTER})
    project = make_project(make, owner, group=group)
    bases = {"project": f"/{project.path}/-", "group": f"/groups/{group.path}/-", "dashboard": "/dashboard"}
    return Lists(owner, guest, stranger, bases)


@pytest.mark.parametrize("kind", ["issues", "merge_requests"])
@pytest.mark.parametrize("place", ["project", "group", "dashboard"])
def test_life_cycle_of_a_view(open_browser: Open, lists: Lists, kind: str, place: str) -> None:
    base = lists.bases[place]
    page, url = f"{base}/{kind}", f"{base}/saved_views/{kind}"
    browser = open_browser().signed_in_as(lists.owner)
    wanted = "label_name%5B%5D=a+b&label_name%5B%5D=c&scope=created_by_me&sort=updated_desc&state=closed"
    saved = browser.submit(f"{page}?{wanted}&page=3&evil=1", url, name=f"Mine {HOSTILE}")
    assert saved.status_code == 302
    assert saved.headers["location"] == f"{page}?{wanted}"
    shown = browser.get(f"{page}?{wanted}").text
    assert HOSTILE not in shown
    assert f'href="{page}?{wanted.replace("&", "&amp;")}" aria-current="page"' in shown
    assert "Mine &lt;script&gt;" in browser.get(page).text
    other = lists.bases["group" if place == "project" else "project"]
    assert "Mine &lt;script&gt;" not in browser.get(f"{other}/{kind}").text, "Views belong to one list."
    browser.submit(f"{page}?state=all&scope=created_by_me", url, name=f"Mine  {HOSTILE} ")
    manage = browser.get(url).text
    assert "state=all" in manage, "The same name replaces the filter."
    assert wanted.replace("&", "&amp;") not in manage
    (action,) = {form.action for form in forms_of(browser.get(url)) if form.action.startswith(f"{url}/")}
    guest = open_browser().signed_in_as(lists.guest)
    assert "Mine &lt;script&gt;" not in guest.get(page).text
    for method in ("put", "delete"):
        refused = guest.post(action, data={"_method": method, "name": "x", "authenticity_token": guest.token()})
        assert refused.status_code == 404
    browser.submit(url, action, does="put", name="Renamed")
    assert ">Renamed</a>" in browser.get(url).text
    browser.submit(url, action, does="delete")
    assert "No saved views" in browser.get(url).text


def test_views_are_private_limited_and_validated(open_browser: Open, lists: Lists, instance: Instance) -> None:
    base = lists.bases["project"]
    page, url = f"{base}/issues", f"{base}/saved_views/issues"
    assert open_browser().signed_in_as(lists.stranger).get(url).status_code == 404
    assert open_browser().get(url).status_code == 302
    browser = open_browser().signed_in_as(lists.guest)
    assert browser.get(f"{base}/saved_views/epics").status_code == 404
    for name, query in (("", "state=all"), ("x" * 61, "state=all"), ("Long", f"search={'x' * 3000}")):
        sent = {"name": name, "query": query, "authenticity_token": browser.token()}
        refused = browser.post(url, data=sent)
        assert refused.status_code == 422
        assert 'role="alert"' in refused.text

    def fill(db: Connection) -> None:
        columns = {"user_id": lists.guest.id, "list_kind": "issues", "query": "", "created_at": db.now}
        for number in range(MAX_VIEWS):
            db.insert_row(saved_views, **columns, project_id=None, group_id=None, name=f"{number}")

    instance.app.database.write(fill)
    url = "/dashboard/saved_views/issues"
    refused = browser.post(url, data={"name": "More", "query": "", "authenticity_token": browser.token()})
    assert refused.status_code == 422
    assert "at most 50 saved views" in refused.text
    replaced = browser.post(url, data={"name": "7", "query": "state=all", "authenticity_token": browser.token()})
    assert replaced.status_code == 302
    assert browser.get(page).status_code == 200
