"""Previews of SVG, CSV and notebook files, with hostile content."""

import base64
import json
import re

import pytest

from tests.client import Make, User
from tests.factories import Project, make_project
from tests.web.browser import Browser

SCRIPT = "<script>alert(1)</script>"
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


@pytest.fixture
def project(make: Make, person: User) -> Project:
    """Return a project of a user."""
    return make_project(make, person)


def _show(browser: Browser, make: Make, person: User, project: Project, name: str, content: str) -> str:
    sent = {"branch": "master", "commit_message": "Add", "content": content}
    made = make.api.post(f"{project.url}/repository/files/{name}", person, **sent)
    assert made.status_code == 201, made.text
    page = browser.get(f"/{project.path}/-/blob/master/{name}")
    assert page.status_code == 200, page.text
    return page.text


def test_svg_is_an_image_that_cannot_run_scripts(browser: Browser, make: Make, person: User, project: Project) -> None:
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)">{SCRIPT}</svg>'
    browser.signed_in_as(person)
    page = _show(browser, make, person, project, "a.svg", svg)
    (url,) = re.findall(r'<img src="data:image/svg\+xml;base64,([^"]+)"', page)
    assert base64.b64decode(url).decode() == svg
    assert SCRIPT not in page
    assert '<img src="data:' not in browser.get(f"/{project.path}/-/blob/master/a.svg?plain=1").text
    assert browser.get(f"/{project.path}/-/raw/master/a.svg").headers["content-type"].startswith("text/plain")


def test_csv_is_a_bounded_table(browser: Browser, make: Make, person: User, project: Project) -> None:
    browser.signed_in_as(person)
    rows = "name,size\n" + f'"{SCRIPT}",=1+1\n' + "a\n" * 600
    page = _show(browser, make, person, project, "a.csv", rows)
    assert '<th scope="col">size</th>' in page
    assert "&lt;script&gt;" in page
    assert SCRIPT not in page
    assert "Only a part of the table is shown." in page
    assert len(re.findall("<tr>", page)) == 501
    unclosed = _show(browser, make, person, project, "b.csv", '"' + "x" * 200_000)
    assert "table-preview" not in unclosed
    wide = _show(browser, make, person, project, "c.tsv", "\t".join("x" * 400))
    assert len(re.findall('<th scope="col">', wide)) == 51


def test_notebook_outputs_are_sanitized(browser: Browser, make: Make, person: User, project: Project) -> None:
    hostile = (
        f'<b onclick="alert(1)">bold</b>{SCRIPT}<iframe src="//evil.example"></iframe><a href="javascript:x">y</a>'
    )
    outputs = [
        {"output_type": "stream", "text": [SCRIPT, "\u001b[31mred\u001b[0m"]},
        {"output_type": "display_data", "data": {"image/png": PIXEL}},
        {"output_type": "display_data", "data": {"image/png": '" onerror="alert(1)', "text/plain": "fallback"}},
        {"output_type": "display_data", "data": {"text/html": hostile}},
        {"output_type": "error", "traceback": ["Traceback"]},
        "not an output",
        {"data": 3},
    ]
    cells = [
        {"cell_type": "markdown", "source": ["# Tides\n", SCRIPT]},
        {"cell_type": "code", "execution_count": 1, "source": "print('<b>')", "outputs": outputs},
        {"cell_type": "code", "execution_count": SCRIPT, "source": 5, "outputs": {}},
        7,
    ]
    browser.signed_in_as(person)
    page = _show(browser, make, person, project, "a.ipynb", json.dumps({"nbformat": 4, "cells": cells}))
    assert "Tides</h" in page
    assert f'src="data:image/png;base64,{PIXEL}"' in page
    assert "<b>bold</b>" in page
    assert "[1]" in page
    assert "fallback" in page
    for part in (SCRIPT, "onclick", "onerror", "<iframe", "javascript:", "\u001b"):
        assert part not in page, part
    for name, content in (("b.ipynb", "[]"), ("c.ipynb", "{"), ("d.ipynb", '{"cells": 3}'), ("e.ipynb", "[" * 9000)):
        assert "notebook-cell" not in _show(browser, make, person, project, name, content)


def test_huge_notebooks_are_bounded(browser: Browser, make: Make, person: User, project: Project) -> None:
    """Attack: many cells, many outputs, long outputs, and elements within elements."""
    nested = {"output_type": "display_data", "data": {"text/html": ["<div>"] * 10_000}}
    long = {"output_type": "stream", "text": ["x" * 1000] * 400}
    many = [{"output_type": "stream", "text": "OUTPUT"}] * 1000
    cells = [
        {"cell_type": "code", "source": "1", "outputs": [nested]},
        {"cell_type": "code", "source": "2", "outputs": [long]},
        {"cell_type": "code", "source": "3", "outputs": many},
        *[{"cell_type": "markdown", "source": "CELL"}] * 1000,
    ]
    browser.signed_in_as(person)
    page = _show(browser, make, person, project, "huge.ipynb", json.dumps({"nbformat": 4, "cells": cells}))
    assert page.count("OUTPUT") <= 50
    assert page.count("CELL") <= 200
    assert page.count("<div>") < 1000
    assert "x" * 100_001 not in page
    assert len(page) < 1_000_000
    deep = '{"cells": ' + "[" * 20_000 + "]" * 20_000 + "}"
    assert "notebook-cell" not in _show(browser, make, person, project, "deep.ipynb", deep)


def test_languages_beyond_the_common_ones(browser: Browser, make: Make, person: User, project: Project) -> None:
    browser.signed_in_as(person)
    for name, content in (("a.f90", "program x\nend program"), ("b.cs", "class A { int b; }"), ("c.adb", "begin end;")):
        assert '<span class="k' in _show(browser, make, person, project, name, content), name


def test_pdf_is_shown_by_the_viewer_of_the_browser(
    browser: Browser, make: Make, person: User, project: Project
) -> None:
    browser.signed_in_as(person)
    page = _show(browser, make, person, project, "a.pdf", "%PDF-1.4\n<script>alert(1)</script>")
    assert f'data-document="/{project.path}/-/raw/' in page
    raw = f"/{project.path}/-/raw/master/a.pdf"
    shown = browser.get(f"{raw}?inline=true").headers
    assert (shown["content-type"], shown["x-content-type-options"]) == ("application/pdf", "nosniff")
    assert shown["content-disposition"].startswith("inline")
    assert (shown["x-frame-options"], "frame-ancestors 'self'" in shown["content-security-policy"]) == (
        "SAMEORIGIN",
        True,
    )
    plain = browser.get(raw).headers
    assert (plain["x-frame-options"], "sandbox" in plain["content-security-policy"]) == ("DENY", True)
    text = _show(browser, make, person, project, "b.pdf", "no document")
    assert "data-document" not in text
    other = _show(browser, make, person, project, "c.html", "<p>x</p>")
    assert "data-document" not in other
    assert browser.get(f"/{project.path}/-/raw/master/c.html?inline=true").headers["x-frame-options"] == "DENY"
