"""Pages of Markdown files that include others."""

from tests.client import Api, Make, User
from tests.factories import make_project
from tests.web.browser import Browser


def test_pages_include_files_of_the_same_commit(browser: Browser, api: Api, make: Make, person: User) -> None:
    project = make_project(make, person, visibility="public")
    files = {
        "docs/index.md": "::include{file=part.md}\n\n::include{file=/root.md}\n\n::include{file=../../../etc/passwd}\n",
        "docs/part.md": "Included **part**\n",
        "root.md": "Included *root*\n",
    }
    actions = [{"action": "create", "file_path": path, "content": content} for path, content in files.items()]
    sent = api.post(f"{project.url}/repository/commits", person, branch="master", commit_message="Add", actions=actions)
    assert sent.status_code == 201, sent.text
    page = browser.get(f"/{project.path}/-/blob/master/docs/index.md").text
    assert "Included <strong>part</strong>" in page and "Included <em>root</em>" in page
    assert "root:" not in page and "etc/passwd</a>" in page
