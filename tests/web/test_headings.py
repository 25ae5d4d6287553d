"""Headings: one title per page, independent of the headings in its texts."""

from tests.client import Api, Make, User
from tests.factories import make_project
from tests.web.browser import Browser

TEXT = "# Harbour\n\n## Quay\n\n###### Ring\n"


def test_headings_of_texts_are_below_the_page_title(browser: Browser, api: Api, make: Make, person: User) -> None:
    project = make_project(make, person, visibility="public")
    for file, content in (("README.md", TEXT), ("below.md", "## Quay\n\n### Ring\n")):
        sent = {"branch": "master", "commit_message": "Write", "content": content}
        assert api.post(f"{project.url}/repository/files/{file}", person, **sent).status_code == 201
    api.post(f"{project.url}/wikis", person, title="home", content=TEXT)
    issue = api.post(f"{project.url}/issues", person, title="An issue", description=TEXT).json()
    api.post(f"{project.url}/issues/{issue['iid']}/notes", person, body=TEXT)
    files = [{"file_path": "a.md", "content": TEXT}]
    snippet = api.post("/snippets", person, title="Text", visibility="public", description=TEXT, files=files).json()
    here = f"/{project.path}"
    pages = ("", "/-/tree/master", "/-/blob/master/README.md", "/-/wikis/home", f"/-/issues/{issue['iid']}")

    for page in (*(here + page for page in pages), f"/-/snippets/{snippet['id']}"):
        text = browser.get(page).text
        assert text.count("<h1") == text.count("</h1>") == 1, page
        assert "Harbour</h2>" in text, page
        assert "Quay</h3>" in text, page
        assert "Ring</h6>" in text, page
    below = browser.get(f"{here}/-/blob/master/below.md").text
    assert "Quay</h2>" in below, "Headings that leave room for a title stay."
    rendered = api.post("/markdown", person, text=TEXT, project=project.path).json()["html"]
    assert "Harbour</h1>" in rendered, "What the API renders stays as it was written."
