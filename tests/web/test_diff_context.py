"""Context lines of diffs, loaded on request."""

import html
import re

import pytest

from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import Project, make_project
from tests.git_history import History
from tests.web.browser import Browser
from tests.web.hostile import HOSTILE, is_safe


@pytest.fixture(scope="module")
def long_file(instance: Instance, make: Make) -> tuple[Project, str]:
    """Return a commit that changes lines 30 and 100 of 150, which were two fewer before."""
    project = make_project(make, visibility="public")
    history = History()
    texts = [f"line {number} <b>" for number in range(1, 151)]
    history.commit(files={f"odd &/{HOSTILE}.py": "\n".join([*texts[:29], *texts[31:99], "other", *texts[100:], ""])})
    mark = history.commit(files={f"odd &/{HOSTILE}.py": "\n".join([*texts, ""])})
    return project, history.fill(instance, project)[mark]


def more(page: str) -> list[str]:
    """Return the links of the rows for omitted lines."""
    return [html.unescape(found) for found in re.findall(r'hx-get="([^"]+/-/diff_lines/[^"]+)"', page)]


def numbers(page: str) -> list[tuple[str, str]]:
    """Return the old and new numbers of the lines of a diff."""
    return re.findall(r'id="d[0-9a-f]{10}_(\d*)_(\d*)"', page)


@pytest.mark.parametrize("view", ["", "split"])
def test_omitted_lines_are_loaded_on_request(browser: Browser, long_file: tuple[Project, str], view: str) -> None:
    project, oid = long_file
    asked = {"headers": {"HX-Request": "true"}}
    page = browser.get(f"/{project.path}/-/commit/{oid}?view={view}").text
    above, below_first, above_second, end = more(page)

    assert is_safe(page)
    lines = browser.get(above, **asked).text
    assert numbers(lines) == [(str(number), str(number)) for number in range(7, 27)]
    assert (is_safe(lines), "&lt;" in lines, "<html" in lines, lines.count("<td") > 40) == (True, True, False, True)
    (rest,) = more(lines)
    assert numbers(browser.get(rest, **asked).text) == [(str(number), str(number)) for number in range(1, 7)]
    assert more(browser.get(rest, **asked).text) == []

    lines = browser.get(below_first, **asked).text
    assert numbers(lines) == [(str(number - 2), str(number)) for number in range(35, 55)]
    assert len(more(lines)) == 2, "The gap is still open on both of its sides."
    assert numbers(browser.get(above_second, **asked).text)[-1] == ("94", "96")

    lines = browser.get(end, **asked).text
    assert numbers(lines)[0] == ("102", "104")
    (last,) = more(lines)
    (last,) = more(browser.get(last, **asked).text)
    lines = browser.get(last, **asked).text
    assert (numbers(lines)[-1], more(lines)) == (("148", "150"), [])


def test_merge_requests_and_comparisons_load_context(
    browser: Browser, api: Api, make: Make, long_file: tuple[Project, str]
) -> None:
    project, oid = long_file
    parent = api.get(f"{project.url}/repository/commits/{oid}", make.root).json()["parent_ids"][0]
    api.post(f"{project.url}/repository/branches", make.root, branch="base", ref=parent)
    asked = {"source_branch": "master", "target_branch": "base", "title": "Offer"}
    iid = api.post(f"{project.url}/merge_requests", make.root, **asked).json()["iid"]

    for page in (f"merge_requests/{iid}/diffs", "compare/base...master"):
        parts = more(browser.get(f"/{project.path}/-/{page}").text)
        assert len(parts) == 4, page
        assert all(f"/-/diff_lines/{oid}/" in part for part in parts), "The lines stay the same when the branch moves."
        assert len(numbers(browser.get(parts[0], headers={"HX-Request": "true"}).text)) == 20


def test_without_scripts_the_link_opens_the_file(browser: Browser, long_file: tuple[Project, str]) -> None:
    project, oid = long_file
    page = browser.get(f"/{project.path}/-/commit/{oid}")
    address = html.unescape(re.findall(r'<tr class="hunk"><td[^>]*><a href="([^"]+)"', page.text)[0])

    assert address.endswith("?plain=1&all=1#L26")
    assert 'id="L26"' in browser.get(address.partition("#")[0]).text
    part = more(page.text)[0]
    assert browser.get(part).headers["location"].partition("#")[0] == address.partition("#")[0]
    for wrong in ("first=x", "ahead=", "first=99999999999", "anchor=<b>", "ahead=--1"):
        name = wrong.partition("=")[0]
        hostile = re.sub(rf"{name}=[^&]*", wrong, part)
        assert browser.get(hostile, headers={"HX-Request": "true"}).status_code == 404, wrong
    for odd in ("last=5000", "first=4000", "ahead=-7", "way=x", "last=0"):
        name = odd.partition("=")[0]
        found = browser.get(re.sub(rf"{name}=[^&]*", odd, part), headers={"HX-Request": "true"})
        assert found.status_code == 200, odd
