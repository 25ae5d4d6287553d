"""Pages of files in reStructuredText."""

from tests.client import Api, Make, User
from tests.factories import make_project
from tests.web.browser import Browser


def test_files_and_readmes_are_rendered_with_a_view_of_the_source(
    browser: Browser, api: Api, make: Make, person: User
) -> None:
    project = make_project(make, person, visibility="public")
    text = "Guide\n=====\n\n.. note:: Mind the *gap*.\n\n.. include:: /etc/passwd\n"
    for name in ("README.rst", "docs/guide.rst"):
        body = {"branch": "master", "commit_message": "Add", "content": text}
        sent = api.post(f"{project.url}/repository/files/{name.replace('/', '%2F')}", person, **body)
        assert sent.status_code == 201, sent.text
    for path in ("", "/-/tree/master", "/-/blob/master/README.rst", "/-/blob/master/docs/guide.rst"):
        page = browser.get(f"/{project.path}{path}").text
        assert '<div class="markdown-alert markdown-alert-note">' in page and "root:" not in page, path
        assert "<h2>Guide</h2>" in page, path
    source = browser.get(f"/{project.path}/-/blob/master/docs/guide.rst?plain=1").text
    assert "markdown-alert" not in source and '<tr id="L1">' in source
