"""Templates: licenses, .gitignore, Dockerfile and CI files."""

from datetime import UTC, datetime
from urllib.parse import quote

import pytest

from tests.client import Api, Make

KINDS = [
    ("/templates/gitignores", "/templates/gitignores/C%2B%2B", "C++", "*.o"),
    ("/templates/gitlab_ci_ymls", "/templates/gitlab_ci_ymls/Pages-Plain", "Pages-Plain", "public"),
    ("/templates/dockerfiles", "/templates/dockerfiles/Node", "Node", "FROM node"),
]
LICENSES = {
    "agpl-3.0",
    "apache-2.0",
    "bsd-2-clause",
    "bsd-3-clause",
    "cc0-1.0",
    "gpl-2.0",
    "gpl-3.0",
    "isc",
    "lgpl-3.0",
    "mit",
    "mpl-2.0",
    "unlicense",
}


def _year() -> str:
    return str(datetime.now(UTC).year)


@pytest.mark.parametrize(("all_of_them", "one_of_them", "name", "part"), KINDS)
def test_templates_are_public(api: Api, make: Make, all_of_them: str, one_of_them: str, name: str, part: str) -> None:
    for caller in (None, make.user(), make.root):
        listed = api.get(all_of_them, as_user=caller, per_page=100)
        assert listed.status_code == 200
        assert {"key": name, "name": name} in listed.json()
        one = api.get(one_of_them, as_user=caller)
        assert one.status_code == 200
        assert one.json()["name"] == name
        assert part in one.json()["content"]


@pytest.mark.parametrize("path", ["/templates/gitlab_ci_ymls", "/templates/dockerfiles"])
def test_first_line_marks_a_template(api: Api, path: str) -> None:
    for template in api.get(path, per_page=100).json():
        first_line = api.get(f"{path}/{quote(template['key'], safe='')}").json()["content"].splitlines()[0]
        assert first_line == "# This file is a template, and might need editing before it works on your project."


LEAST = [("/templates/gitignores", 20), ("/templates/gitlab_ci_ymls", 21), ("/templates/dockerfiles", 6)]


@pytest.mark.parametrize(("path", "least"), LEAST)
def test_everything_listed_can_be_read(api: Api, path: str, least: int) -> None:
    listed = api.get(path, per_page=100).json()

    assert len(listed) >= least
    names = [template["name"].casefold() for template in listed]
    assert names == sorted(names)
    for template in listed:
        content = api.get(f"{path}/{quote(template['key'], safe='')}").json()["content"]
        assert content.endswith("\n")
        assert content.strip()


@pytest.mark.parametrize(("path", "least"), LEAST)
def test_lists_in_pages(api: Api, path: str, least: int) -> None:
    first = api.get(path, per_page=5)
    total = int(first.headers["x-total"])
    assert total >= least
    assert first.headers["x-next-page"] == "2"

    pages = [api.get(path, per_page=5, page=page).json() for page in range(1, -(-total // 5) + 1)]

    assert len(pages[0]) == 5
    assert [each for page in pages for each in page] == api.get(path, per_page=100).json()
    assert api.get(path, page=10**18).json() == []


CALLED = [
    ("/templates/gitignores", "Gitignore"),
    ("/templates/gitlab_ci_ymls", "Gitlab CI Yml"),
    ("/templates/dockerfiles", "Dockerfile"),
    ("/templates/licenses", "License"),
]
NO_KEYS = [
    "Nothing",
    "..%2F..%2Fapi.py",
    "..%2Flicenses%2Fmit",
    "..%2Fgitignores%2FNode",
    "%2Fetc%2Fpasswd",
    "Node.txt",
    "mit.txt",
    "licenses",
    "Node%20",
    "node",
    "寿司",
]


@pytest.mark.parametrize(("path", "called"), CALLED)
@pytest.mark.parametrize("key", NO_KEYS)
def test_unlisted_templates_are_not_found(api: Api, path: str, called: str, key: str) -> None:
    gone = api.get(f"{path}/{key}")

    assert (gone.status_code, gone.json()) == (404, {"message": f"404 {called} Not Found"})


def test_licenses(api: Api) -> None:
    listed = api.get("/templates/licenses")
    assert {each["key"] for each in listed.json()} == LICENSES
    assert listed.headers["x-total"] == str(len(LICENSES))

    mit = next(each for each in listed.json() if each["key"] == "mit")
    assert mit["name"] == "MIT License"
    assert mit["nickname"] is None
    assert mit["popular"] is mit["featured"] is True
    assert mit["html_url"] == "http://choosealicense.com/licenses/mit/"
    assert mit["source_url"] == "https://opensource.org/licenses/MIT"
    assert mit["conditions"] == ["include-copyright"]
    assert mit["permissions"] == ["commercial-use", "modifications", "distribution", "private-use"]
    assert mit["limitations"] == ["no-liability"]
    assert "Copyright (c) [year] [fullname]" in mit["content"]


@pytest.mark.parametrize("asked", ["1", "true"])
def test_popular_licenses(api: Api, asked: str) -> None:
    popular = api.get("/templates/licenses", popular=asked)

    assert {each["key"] for each in popular.json()} == {"apache-2.0", "gpl-3.0", "mit"}
    assert popular.headers["x-total"] == "3"
    assert len(api.get("/templates/licenses", popular="false").json()) == len(LICENSES)
    assert api.get("/templates/licenses", popular="much").status_code == 400


FILLED = [
    ("mit", "Copyright (c) {year} Anton"),
    ("bsd-2-clause", "Copyright (c) {year}, Anton"),
    ("bsd-3-clause", "Copyright (c) {year}, Anton"),
    ("isc", "Copyright (c) {year}, Anton"),
    ("apache-2.0", "Copyright {year} Anton"),
    ("gpl-2.0", "My Project\n    Copyright (C) {year}  Anton"),
    ("gpl-3.0", "My Project\n    Copyright (C) {year}  Anton"),
    ("agpl-3.0", "My Project\n    Copyright (C) {year}  Anton"),
]


@pytest.mark.parametrize(("key", "filled"), FILLED)
def test_placeholders_of_a_license_are_replaced(api: Api, key: str, filled: str) -> None:
    content = api.get(f"/templates/licenses/{key}", project="My Project", fullname="Anton").json()["content"]

    assert filled.format(year=_year()) in content


def test_the_default_holder_is_the_caller(api: Api, make: Make) -> None:
    user = make.user(name="Zoë Müller")

    assert f"(c) {_year()} Zoë Müller\n" in api.get("/templates/licenses/mit", as_user=user).json()["content"]
    for nothing in ("", " "):
        content = api.get("/templates/licenses/mit", as_user=user, fullname=nothing).json()["content"]
        assert f"(c) {_year()} Zoë Müller\n" in content
    named = api.get("/templates/licenses/mit", as_user=user, fullname="Somebody").json()["content"]
    assert f"(c) {_year()} Somebody\n" in named
    assert f"(c) {_year()} [fullname]\n" in api.get("/templates/licenses/MIT").json()["content"]


@pytest.mark.parametrize("name", [r"\1\g<0>", "[project]", "<year>", "寿司 🍣", "x" * 5000])
def test_values_are_inserted_literally(api: Api, name: str) -> None:
    filled = api.get("/templates/licenses/gpl-3.0", fullname=name, project="My Project").json()["content"]

    assert f"Copyright (C) {_year()}  {name}\n" in filled
    # Replacing placeholders must not change the cached template.
    assert "<name of author>" in api.get("/templates/licenses/gpl-3.0").json()["content"]


def test_invalid_names_are_rejected(api: Api) -> None:
    assert api.get("/templates/licenses/mit?fullname[]=a").status_code == 400
    assert api.get("/templates/licenses/mit?fullname=%00").status_code == 400
