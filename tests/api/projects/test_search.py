"""Search for projects by name."""

from urllib.parse import quote

import pytest

from tests.client import Api, Make
from tests.factories import ids, make_project


def test_search_matches_names_only(api: Api, make: Make) -> None:
    owner, word = make.user(), make.name("Needle")
    hit = make_project(make, owner, name=f"A {word} b", path=make.name("x"), visibility="public")
    hidden = make_project(make, owner, name=f"{word} hidden", path=make.name("x"))
    make_project(make, owner, name=make.name("other"), path=f"in-{word}", visibility="public", description=word)

    place = f"/projects/search/{word}"
    assert ids(api.get(place)) == [hit.id]
    assert ids(api.get(place, make.user())) == [hit.id]
    assert ids(api.get(place.lower(), owner)) == [hidden.id, hit.id]
    assert ids(api.get(f"/projects/search/{word[1:]}", make.root)) == [hidden.id, hit.id]
    # Another filter is combined with it.
    assert ids(api.get(place, owner, search="hidden")) == [hidden.id]


@pytest.mark.parametrize(
    ("order_by", "expected"), [("id", "bca"), ("name", "abc"), ("created_at", "bca"), ("last_activity_at", "bca")]
)
def test_orders(api: Api, make: Make, order_by: str, expected: str) -> None:
    owner, word = make.user(), make.name("sorted")
    for letter in "bca":
        make_project(make, owner, name=f"{letter} {word}")

    found = api.get(f"/projects/search/{word}", owner, order_by=order_by, sort="asc").json()
    turned = api.get(f"/projects/search/{word}", owner, order_by=order_by).json()

    assert "".join(project["name"][0] for project in found) == expected
    assert [project["id"] for project in turned] == [project["id"] for project in found][::-1]


@pytest.mark.parametrize("query", ["%", "_", "a/b", "'", '"', "\\", "🚀", "x" * 2000, "100%", "...", "#", "?"])
def test_special_characters_are_escaped(api: Api, make: Make, query: str) -> None:
    name = make.name("signs")
    make_project(make, name=name, visibility="public")

    found = api.get(f"/projects/search/{quote(query, safe='')}", per_page=100)

    assert found.status_code == 200
    assert all(query.lower() in project["name"].lower() for project in found.json())
