"""python-gitlab's ``save()`` on objects with unchanged and changed attributes, also if all of them are sent back."""

from collections.abc import Callable, Iterator
from typing import Any

import gitlab
import pytest
from gitlab.exceptions import GitlabUpdateError

from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import make_group, make_project

Find = Callable[[], Any]
CHANGES: dict[str, tuple[str, Any]] = {
    "settings": ("after_sign_up_text", "Welcome"),
    "project": ("description", "Changed"),
    "group": ("description", "Changed"),
    "user": ("bio", "Changed"),
}
FIXED: dict[str, tuple[str, Any]] = {
    "settings": ("gravatar_enabled", True),
    "project": ("service_desk_enabled", True),
    "group": ("math_rendering_limits_enabled", False),
}
VOLATILE = {"updated_at", "last_activity_at"}


@pytest.fixture
def gl(instance: Instance, make: Make) -> Iterator[gitlab.Gitlab]:
    """Yield the client of the administrator."""
    with gitlab.Gitlab(instance.url, private_token=make.root.token) as client:
        yield client


@pytest.fixture
def find(gl: gitlab.Gitlab, make: Make, request: pytest.FixtureRequest) -> Find:
    """Return a function that reads the object of a kind again."""
    kind: str = request.param
    if kind == "settings":
        return gl.settings.get
    if kind == "user":
        user_id = make.user().id
        return lambda: gl.users.get(user_id)
    if kind == "project":
        project_id = make_project(make).id
        return lambda: gl.projects.get(project_id)
    group_id = make_group(make).id
    return lambda: gl.groups.get(group_id)


def _values(item: Any) -> dict[str, Any]:
    return {name: value for name, value in item.attributes.items() if name not in VOLATILE}


def _with_own_values(item: Any) -> Any:
    """Assign each attribute to itself, so that ``save()`` sends it."""
    for name, value in item.attributes.items():
        if name != "id":
            setattr(item, name, value)
    return item


@pytest.mark.parametrize(("find", "kind"), [(kind, kind) for kind in CHANGES], indirect=["find"])
def test_objects_are_saved(find: Find, kind: str) -> None:
    before = find()
    values = _values(before)
    before.save()
    assert _values(find()) == values, "Nothing was changed."
    _with_own_values(find()).save()
    assert _values(find()) == values, "All attributes were sent with their values."
    name, value = CHANGES[kind]
    changed = _with_own_values(find())
    setattr(changed, name, value)
    changed.save()
    assert _values(find()) == values | {name: value}
    setattr(changed, name, values[name])
    changed.save()
    assert _values(find()) == values


@pytest.mark.parametrize(("find", "kind"), [(kind, kind) for kind in FIXED], indirect=["find"])
def test_nothing_of_a_whole_object_is_stored_if_an_attribute_is_fixed(find: Find, kind: str) -> None:
    values, changed = _values(find()), _with_own_values(find())
    (name, value), (fixed, refused) = CHANGES[kind], FIXED[kind]
    setattr(changed, name, value)
    setattr(changed, fixed, refused)
    with pytest.raises(GitlabUpdateError) as error:
        changed.save()
    assert (error.value.response_code, list(error.value.error_message)) == (400, [fixed])
    assert _values(find()) == values


@pytest.mark.parametrize(("find", "kind"), [(kind, kind) for kind in CHANGES], indirect=["find"])
def test_the_whole_object_as_another_client_sends_it(find: Find, kind: str, api: Api, make: Make) -> None:
    """Infrastructure tools send what they have read, as JSON and with nulls; nothing of it is ignored."""
    item = find()
    url = "/application/settings" if kind == "settings" else f"/{kind}s/{item.id}"
    before = api.get(url, make.root).json()
    sent = api.put(url, make.root, **before)
    assert (sent.status_code, sent.headers.get("x-ingot-ignored")) == (200, None), sent.text
    name, value = CHANGES[kind]
    assert api.put(url, make.root, **before | {name: value}).json()[name] == value
    assert api.put(url, make.root, **before).status_code == 200
    after = api.get(url, make.root).json()
    assert {name: value for name, value in after.items() if name not in VOLATILE} == {
        name: value for name, value in before.items() if name not in VOLATILE
    }
