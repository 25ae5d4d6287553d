"""Lists filtered by custom attributes, and lists that include them: administrators only."""

from collections.abc import Callable
from functools import partial

import pytest

from tests.client import Api, Make
from tests.factories import ids, make_group, make_project, statements_of

KINDS = ["projects", "groups", "users"]


def _create(make: Make, kind: str) -> Callable[[], int]:
    makers: dict[str, Callable[[], int]] = {
        "projects": lambda: make_project(make, visibility="public").id,
        "groups": lambda: make_group(make, visibility="public").id,
        "users": lambda: make.user().id,
    }
    return makers[kind]


def _set_attribute(api: Api, make: Make, kind: str, number: int, **attributes: str) -> None:
    for key, value in attributes.items():
        assert api.put(f"/{kind}/{number}/custom_attributes/{key}", make.root, value=value).status_code == 200


@pytest.mark.parametrize("kind", KINDS)
def test_lists_filter_by_attribute_values(api: Api, make: Make, kind: str) -> None:
    """All pairs must match; attributes of other objects or keys do not count."""
    team, made = make.name("team"), _create(make, kind)
    both, one, neither = made(), made(), made()
    _set_attribute(api, make, kind, both, team=team, place="here")
    _set_attribute(api, make, kind, one, team=team, place="there")
    _set_attribute(api, make, kind, neither, place=team)

    found = api.get(f"/{kind}?custom_attributes[team]={team}", make.root)
    assert set(ids(found)) == {both, one}
    assert found.headers["x-total"] == "2"
    assert ids(api.get(f"/{kind}?custom_attributes[team]={team}&custom_attributes[place]=here", make.root)) == [both]
    assert ids(api.get(f"/{kind}?custom_attributes[team]={team}&custom_attributes[place]=no", make.root)) == []
    page = api.get(f"/{kind}?custom_attributes[team]={team}&per_page=1&order_by=id&sort=asc&page=2", make.root)
    assert ids(page) == [max(both, one)]


@pytest.mark.parametrize("kind", KINDS)
def test_other_users_can_neither_filter_nor_see_attributes(api: Api, make: Make, kind: str) -> None:
    """Attack: a filter would reveal attribute values by the items that it omits."""
    user, team, made = make.user(), make.name("team"), _create(make, kind)
    noted = made()
    _set_attribute(api, make, kind, noted, team=team)
    more = "&all_available=true" if kind == "groups" else ""

    plain = api.get(f"/{kind}?per_page=100{more}", user)
    for value in (team, "other"):
        asked = api.get(f"/{kind}?custom_attributes[team]={value}&with_custom_attributes=true&per_page=100{more}", user)
        assert asked.json() == plain.json()
    assert "custom_attributes" not in api.get(f"/{kind}/{noted}?with_custom_attributes=true", user).json()


@pytest.mark.parametrize("kind", KINDS)
def test_attributes_are_included_on_request(api: Api, make: Make, kind: str) -> None:
    made = _create(make, kind)
    noted, bare = made(), made()
    _set_attribute(api, make, kind, noted, b="2", a="1")
    expected = [{"key": "a", "value": "1"}, {"key": "b", "value": "2"}]
    order = "order_by=id&sort=desc"

    listed = api.get(f"/{kind}?with_custom_attributes=true&{order}", make.root).json()
    shown = {each["id"]: each["custom_attributes"] for each in listed}
    assert (shown[noted], shown[bare]) == (expected, [])
    single = api.get(f"/{kind}/{noted}?with_custom_attributes=true", make.root).json()
    assert single["custom_attributes"] == expected
    assert "custom_attributes" not in api.get(f"/{kind}/{noted}", make.root).json()
    assert all("custom_attributes" not in each for each in api.get(f"/{kind}?{order}", make.root).json())
    team = make.name("team")
    for _ in range(3):  # Equal rather than a number, because rows of other tests may need another statement.
        _set_attribute(api, make, kind, made(), team=team)
    place = f"/{kind}?with_custom_attributes=true&custom_attributes[team]={team}"
    few, many = (statements_of(make, partial(api.get, f"{place}&per_page={n}", make.root)) for n in (1, 50))
    assert many <= few


@pytest.mark.parametrize("kind", KINDS)
def test_invalid_filters(api: Api, make: Make, kind: str) -> None:
    wrong = api.get(f"/{kind}?custom_attributes=team", make.root)
    assert (wrong.status_code, wrong.json()) == (400, {"message": {"custom_attributes": ["is invalid"]}})
    many = "&".join(f"custom_attributes[k{number}]=v" for number in range(11))
    refused = api.get(f"/{kind}?{many}", make.root)
    assert refused.json() == {"message": {"custom_attributes": ["is too long (maximum is 10 keys)"]}}
    unicode = api.get(f"/{kind}", make.root, **{"custom_attributes[größe]": "ü" * 300})
    assert ids(unicode) == []


def test_lists_below_a_group_filter_and_include_attributes(api: Api, make: Make) -> None:
    team, group = make.name("team"), make_group(make)
    inner, other = make_group(make, parent=group), make_group(make, parent=group)
    project = make_project(make, group=group)
    _set_attribute(api, make, "groups", inner.id, team=team)
    _set_attribute(api, make, "projects", project.id, team=team)
    asked = f"?custom_attributes[team]={team}&with_custom_attributes=true"
    for path in (f"/groups/{group.id}/subgroups", f"/groups/{group.id}/descendant_groups"):
        (found,) = api.get(path + asked, make.root).json()
        assert (found["id"], found["custom_attributes"]) == (inner.id, [{"key": "team", "value": team}])
    (found,) = api.get(f"/groups/{group.id}/projects" + asked, make.root).json()
    assert (found["id"], found["custom_attributes"]) == (project.id, [{"key": "team", "value": team}])
    assert other.id in ids(api.get(f"/groups/{group.id}/subgroups", make.root))
