"""Counters of the project tabs: the numbers that the lists show to the same viewer."""

import re

import pytest

from ingot.core.access.levels import Level
from tests.api.issues.factories import make_issue
from tests.api.merge_requests.factories import filled_project, make_merge_request
from tests.client import Make, User
from tests.factories import Project
from tests.web.browser import Browser
from tests.web.conftest import PASSWORD

_TAB = re.compile(
    r'<a href="[^"]+/-/(issues|merge_requests)"[^>]*>(?:<svg.*?</svg>)?[^<]*<span class="number">(\d+)</span>'
)
_OPEN = re.compile(r'>Open <span class="number">(\d+)</span>')


def _shown(browser: Browser, project: Project) -> dict[str, tuple[int, int]]:
    """Return the number in the tab and that of the list."""
    shown = {}
    for kind in ("issues", "merge_requests"):
        page = browser.get(f"/{project.path}/-/{kind}").text
        tabs = {key: int(number) for key, number in _TAB.findall(page)}
        (listed,) = _OPEN.findall(page)
        shown[kind] = tabs[kind], int(listed)
    return shown


@pytest.mark.parametrize(("role", "issues"), [("anonymous", 2), ("guest", 2), ("author", 3), ("reporter", 4)])
def test_tabs_and_lists_agree(make: Make, browser: Browser, role: str, issues: int) -> None:
    owner, person = make.user(), make.user(password=PASSWORD)
    level = Level.REPORTER if role == "reporter" else Level.GUEST
    project = filled_project(make, owner, visibility="public", members={person: level})
    for _ in range(2):
        make_issue(make, project, owner)
    make_issue(make, project, owner, confidential=True)
    make_issue(make, project, person if role == "author" else owner, confidential=True)
    closed = make_issue(make, project, owner, confidential=True)
    assert make.api.put(f"{project.url}/issues/{closed['iid']}", owner, state_event="close").status_code == 200
    make_merge_request(make, project, owner)
    if role != "anonymous":
        browser.signed_in_as(person)

    assert _shown(browser, project) == {"issues": (issues, issues), "merge_requests": (1, 1)}


def test_assignees_count_their_confidential_issues(make: Make, browser: Browser, person: User) -> None:
    project = filled_project(make, visibility="public")
    make_merge_request(make, project)
    make_issue(make, project, make.root, confidential=True, assignee_ids=[person.id])
    make_issue(make, project, make.root, confidential=True)

    assert _shown(browser.signed_in_as(person), project)["issues"] == (1, 1)
