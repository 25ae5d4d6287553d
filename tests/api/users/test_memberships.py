"""Memberships of a user, for administrators."""

import pytest

from tests.client import Api, Make
from tests.factories import add_members, make_group, make_project


def test_administrators_see_all_memberships(api: Api, make: Make) -> None:
    user = make.user()
    hidden = make_group(make, members={user: 30})
    project = make_project(make, members={user: 20})
    add_members(make, make_group(make), {user: 40}, expires_at="2001-01-01")
    make_project(make, group=hidden)
    place = f"/users/{user.id}/memberships"
    of_group = {"source_id": hidden.id, "source_name": hidden.name, "source_type": "Namespace", "access_level": 30}
    of_project = {"source_id": project.id, "source_name": project.name, "source_type": "Project", "access_level": 20}

    assert api.get(place, make.root).json() == [of_group, of_project]
    assert api.get(f"/users/{user.id}/memberships", make.root, type="Project").json() == [of_project]
    assert api.get(place, make.root, type="Namespace").json() == [of_group]
    refused = api.get(place, make.root, type="Invalid")
    assert (refused.status_code, refused.json()) == (400, {"message": {"type": ["is invalid"]}})
    assert api.get(place, make.root, per_page=1).headers["x-total"] == "2"


@pytest.mark.parametrize(("who", "status"), [("nobody", 401), ("themselves", 403), ("other", 403)])
def test_other_users_are_denied(api: Api, make: Make, who: str, status: int) -> None:
    user = make.user()
    caller = {"nobody": None, "themselves": user, "other": make.user()}[who]

    assert api.get(f"/users/{user.id}/memberships", caller).status_code == status


def test_missing_users(api: Api, make: Make) -> None:
    assert api.get("/users/999999999/memberships", make.root).status_code == 404
    assert api.get("/users/foo/memberships", make.root).status_code == 404
