"""Hostile texts of issues: markdown and reference bombs, and scripts."""

import pytest

from tests.api.issues.factories import make_issue
from tests.client import Api, Make
from tests.factories import make_project
from tests.markup.hostile import KNOWN, PAYLOADS
from tests.statements import executed

MAX_NAME_STATEMENTS = 12
"""Maximum number of additional statements for resolving the references and mentions of a text."""


@pytest.mark.parametrize("name", KNOWN)
def test_expensive_texts_take_bounded_work(api: Api, make: Make, name: str) -> None:
    """As description, note and search; the text is stored unchanged."""
    owner = make.user()
    project = make_project(make, owner)
    base = f"/projects/{project.id}/issues"
    make_issue(make, project, owner)
    text = PAYLOADS[name][:1_000_000]

    def costs(words: str) -> tuple[int, int]:
        counts = [executed(make.database)]
        for path, sent in ((base, {"title": "x", "description": words}), (f"{base}/1/notes", {"body": words})):
            assert api.post(path, owner, **sent).status_code == 201
            counts.append(executed(make.database))
        return counts[1] - counts[0], counts[2] - counts[1]

    plain, busy = costs("words"), costs(text)

    assert all(cost <= usual + MAX_NAME_STATEMENTS for cost, usual in zip(busy, plain, strict=True)), (plain, busy)
    assert api.get(f"{base}/3", owner).json()["description"] == text
    # Escaped for the URL, some texts exceed the limit of a request line.
    assert api.get(base, owner, search=text[:9_000]).status_code in (400, 414)


SCRIPTS = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "javascript:alert(1)", "<base href=//x>"]


@pytest.mark.parametrize("script", SCRIPTS)
def test_scripts_are_returned_as_json_text(api: Api, make: Make, script: str) -> None:
    """Only the renderer interprets the text."""
    owner = make.user()
    project = make_project(make, owner)
    base = f"/projects/{project.id}"
    written = [
        (f"{base}/issues", {"title": script, "description": script}, ("title", "description")),
        (f"{base}/issues/1/notes", {"body": script}, ("body",)),
        (f"{base}/issues/1/discussions", {"body": script}, ("notes",)),
        (f"{base}/labels", {"name": script, "color": "#ff0000", "description": script}, ("name", "description")),
        (f"{base}/milestones", {"title": script, "description": script}, ("title", "description")),
        (f"{base}/boards", {"name": script}, ("name",)),
        (f"{base}/snippets", {"title": script, "file_name": "a", "code": script, "visibility": "private"}, ("title",)),
        (f"{base}/wikis", {"title": "page", "content": script}, ("content",)),
        ("/snippets", {"title": script, "file_name": "a", "content": script, "visibility": "private"}, ("title",)),
    ]
    for path, sent, fields in written:
        answer = api.post(path, owner, **sent)
        assert answer.status_code == 201, (path, answer.text)
        assert answer.headers["content-type"] == "application/json"
        assert answer.headers["x-content-type-options"] == "nosniff", path
        for field in fields:
            value = answer.json()[field]
            assert (value[0]["body"] if field == "notes" else value) == script, (path, field)
    for text in (script, f"[x]({script})", f"# {script}", "#1+", "~1 %1"):
        html = api.post("/markdown", owner, text=text, gfm=True, project=project.path).json()["html"]
        live = html.replace("&lt;", "").lower()
        assert "<script" not in live and "<img src=x" not in live and "<base" not in live, html
        assert 'href="javascript:' not in live, html
