"""Numbers beyond the integers of the database and of Python's conversion: 4xx, or a text like any other."""

import re

import httpx
import pytest

from tests.client import Api, Make
from tests.conftest import Instance
from tests.conventions.source_files import ROOT
from tests.factories import make_project
from tests.graphql.conftest import Graphql

NUMBERS = [2**31, 2**63 - 1, 2**63, 2**64, 10**30]
MANY_DIGITS = "9" * 5000
# Sliced, limited to a few digits by an expression, or in bytes that the HTTP parser has checked.
CONVERTED_ELSEWHERE = {
    "ingot/core/api/request_fields.py",
    "ingot/core/markup/references.py",
    "ingot/web/ci/ansi.py",
    "ingot/web/code/diffs.py",
}


@pytest.mark.parametrize("number", NUMBERS)
def test_a_trigger_of_no_project(api: Api, number: int) -> None:
    for path in (f"/projects/{number}/trigger/pipeline", f"/projects/{number}/ref/master/trigger/pipeline"):
        assert api.post(path, token="x", ref="master").status_code == 404


@pytest.mark.parametrize("number", NUMBERS)
def test_headers_and_lists(api: Api, make: Make, number: int) -> None:
    assert api.get("/user", make.root, sudo=number).status_code == 404
    path = make_project(make).url
    for approvers in ([number], [number, 1]):
        assert api.get(f"{path}/merge_requests", make.root, approved_by_ids=approvers).json() == []


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("path", ["{}", "{}/-/issues", "{}.git/info/refs?service=git-upload-pack", "{}/info/lfs/locks"])
def test_pages_and_git(instance: Instance, number: int, path: str) -> None:
    assert httpx.get(f"{instance.url}/{path.format(number)}").status_code in (302, 401, 404)


@pytest.mark.parametrize("number", NUMBERS)
def test_graphql(instance: Instance, make: Make, number: int) -> None:
    """The largest number of a row is a valid id without a row; a larger one is no id."""
    query = f'{{ issue(id: "gid://gitlab/Issue/{number}") {{ id }} }}'
    client = Graphql(instance.url)
    answer = client.answer(query, make.root)
    client.close()
    if number < 2**63:
        assert answer == {"data": {"issue": None}}
    else:
        assert "is not a valid global id" in answer["errors"][0]["message"]


def test_many_digits_in_texts(api: Api, make: Make) -> None:
    """Python refuses to convert more than 4,300 digits."""
    project = make_project(make)
    references = " ".join(f"{sign}{MANY_DIGITS}" for sign in "#!$%~")
    text = f"{references}\n/milestone %{MANY_DIGITS}"
    created = api.post(f"{project.url}/issues", make.root, title="x", description=text)
    assert created.status_code == 201, created.text
    rendered = api.post("/markdown", make.root, text=text, gfm=True, project=project.path)
    assert MANY_DIGITS in rendered.json()["html"]


def test_texts_become_numbers_in_one_place() -> None:
    """``number_or_none`` knows the limit; a check by ``isdigit`` or ``isdecimal`` does not."""
    unlimited = re.compile(r"\bint\(.*\.is(digit|decimal)\(|\.is(digit|decimal)\(.*\bint\(")
    found = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "ingot").rglob("*.py")
        if not path.is_relative_to(ROOT / "ingot/runner") and unlimited.search(path.read_text())
    }
    assert found == CONVERTED_ELSEWHERE
