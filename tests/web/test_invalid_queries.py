"""Invalid query parameters: no page fails."""

from urllib.parse import quote

import pytest

from ingot.web.all_pages import ALL_PAGES
from tests.api.issues.factories import make_issue
from tests.client import Make
from tests.conftest import ROOT_PASSWORD
from tests.factories import Project, make_project
from tests.web.browser import Browser

WORDS = {":issue_iid": "1", ":id": "1", ":rest": "main/README.md", ":name": "main", ":sha": "main", ":slug": "home"}
WORDS |= {":file": "archive.zip", ":hook": "1", ":tag": "v1"}
READS = [route.path for pages in ALL_PAGES for route in pages.routes if route.method == "GET"]
NAMES = [
    "at",
    "back",
    "code",
    "file",
    "file_name",
    "filter",
    "first",
    "inline",
    "label_name",
    "member",
    "only",
    "order_by",
]
NAMES += ["page", "path", "project_id", "redirect_to", "ref", "scope", "search", "sort", "start", "state", "status"]
NAMES += ["straight", "tag_name", "topic", "view", "with", "word", "namespace_id", "note_id", "diff_id", "start_id"]
NAMES += ["action_id", "author_username", "assignee_username", "milestone_title", "merge_request", "issue", "type"]


@pytest.fixture(scope="module")
def project(make: Make) -> Project:
    """Return a project with sample data."""
    project = make_project(make, visibility="public")
    make_issue(make, project, make.root, title="first")
    file = {"branch": "main", "content": "# Hello", "commit_message": "Begin"}
    assert make.api.post(f"{project.url}/repository/files/README.md", make.root, **file).status_code == 201
    return project


@pytest.mark.parametrize("shape", ["{}[]=x", "{}[a]=x", "{}=99999999999999999999"])
def test_no_page_fails_on_its_query_parameters(browser: Browser, project: Project, shape: str) -> None:
    assert browser.sign_in("root", ROOT_PASSWORD).status_code == 302
    query = "&".join(shape.format(name) for name in NAMES)

    for path in READS:
        within = project.path.partition("/")[0] if path.startswith("/groups/") else project.path
        address = path.replace(":path", quote(within))
        for word, value in WORDS.items():
            address = address.replace(word, value)
        if ":" not in address:
            assert browser.get(f"{address}?{query}").status_code < 500, address
