"""Pages of hostile code: computed once, within limits, and shown without colors."""

import json
import logging

import pytest

from ingot.core.markup import highlighting, markdown
from tests.client import Make, User
from tests.conftest import Instance
from tests.factories import Project, make_project
from tests.git_history import History
from tests.web.browser import Browser


def code(name: str) -> str:
    """Python code of 20 kB, which no other test highlights."""
    return "".join(f"def {name}_{number:03}(x):\n    return '<b>{number}</b>', x, x\n" for number in range(400))


@pytest.fixture
def project(instance: Instance, make: Make) -> Project:
    project = make_project(make, visibility="public")
    history = History()
    files = {"a.c": "\n" * 8_000, "b.py": code("b"), "c.md": f"```python\n{code('c')}```\n", "d.py": code("d")}
    history.commit(files=files, message="One")
    history.fill(instance, project)
    return project


def exceeded(caplog: pytest.LogCaptureFixture) -> int:
    return [record.getMessage() for record in caplog.records].count("rendering limit exceeded")


def test_code_is_highlighted(browser: Browser, project: Project) -> None:
    page = browser.get(f"/{project.path}/-/blob/master/b.py?all=1").text
    assert page.count('<span class="k">def</span>') == 400
    assert "&lt;b&gt;399&lt;/b&gt;" in page
    blame = browser.get(f"/{project.path}/-/blame/master/b.py").text
    assert blame.partition('class="lines blame highlight"')[2].count('<span class="k">def</span>') == 400
    assert "&lt;b&gt;399&lt;/b&gt;" in blame
    text = browser.get(f"/{project.path}/-/blob/master/c.md").text
    assert text.count('<span class="k">def</span>') == 400


def test_a_file_of_blank_lines_is_shown_at_once(
    browser: Browser, project: Project, caplog: pytest.LogCaptureFixture
) -> None:
    """An anonymous request for such a C file took 3.3 seconds of processor time, again for each variant."""
    page = browser.get(f"/{project.path}/-/blob/master/a.c?all=1")
    assert page.status_code == 200
    assert page.text.count('<tr id="L') == 8_000
    assert exceeded(caplog) == 0, "It was not even tried."


def test_code_that_exceeds_its_limit_is_computed_once_for_all_pages(
    browser: Browser, project: Project, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(highlighting, "_CPU_SECONDS", 0.001)
    monkeypatch.setattr(highlighting, "_CPU_SECONDS_PER_CHARACTER", 0.0)
    caplog.set_level(logging.WARNING)
    address = f"/{project.path}/-/blob/master/d.py?all=1"
    for path in (address, f"{address}&plain=1", address):
        page = browser.get(path)
        assert page.status_code == 200
        assert "&lt;b&gt;399&lt;/b&gt;" in page.text
        assert '<span class="k">' not in page.text
    for view in ("view=inline", "view=split", "view=split"):
        page = browser.get(f"/{project.path}/-/commit/master?only=3&{view}")
        assert "&lt;b&gt;399&lt;/b&gt;" in page.text
    assert exceeded(caplog) == 1


def test_code_in_a_text_that_exceeds_its_limit_is_plain(
    make: Make, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(markdown, "MAX_LOCAL_LENGTH", 100_000)
    monkeypatch.setattr(highlighting, "_CPU_SECONDS", 0.001)
    monkeypatch.setattr(highlighting, "_CPU_SECONDS_PER_CHARACTER", 0.0)
    owner: User = make.user()
    for _ in range(3):
        answer = make.api.post("/markdown", owner, text=f"*a*\n\n```python\n{code('e')}```\n")
        html = json.loads(answer.content)["html"]
        assert ("<em>a</em>" in html, "<span" in html, "&lt;b&gt;399&lt;/b&gt;" in html) == (True, False, True)
    assert exceeded(caplog) == 1
