"""Parent groups and invited groups of a project."""

from typing import Any

import pytest

from tests.client import Api, Make
from tests.factories import ids, make_group, make_project, share


def test_parent_groups_and_with_shared_also_invited_ones(api: Api, make: Make) -> None:
    owner = make.user()
    top = make_group(make, owner)
    group = make_group(make, owner, parent=top)
    project = make_project(make, owner, group=group)
    strong, weak, ended = (make_group(make, visibility="public") for _ in range(3))
    share(make, project, strong, 40)
    share(make, project, weak, 10)
    share(make, project, ended, 40, expires_at="2001-01-01")
    place = f"/projects/{project.id}/groups"

    assert api.get(place, owner).json() == [
        {
            "id": each.id,
            "web_url": f"{api.url}/groups/{each.path}",
            "name": each.name,
            "avatar_url": None,
            "full_name": full_name,
            "full_path": each.path,
        }
        for each, full_name in ((top, top.name), (group, f"{top.name} / {group.name}"))
    ]
    assert sorted(ids(api.get(place, owner, with_shared=True))) == [top.id, group.id, strong.id, weak.id]
    assert strong.id in ids(api.get(place, owner, with_shared=True, shared_min_access_level=30))
    assert weak.id not in ids(api.get(place, owner, with_shared=True, shared_min_access_level=30))
    assert ids(api.get(place, owner, with_shared=True, search=strong.name)) == [strong.id]
    assert ids(api.get(place, owner, **{"skip_groups[]": [top.id]})) == [group.id]


@pytest.mark.parametrize(
    ("who", "visibility", "status"),
    [("nobody", "public", 401), ("stranger", "private", 404), ("stranger", "public", 200), ("owner", "private", 200)],
)
def test_visibility_of_groups(api: Api, make: Make, who: str, visibility: str, status: int) -> None:
    owner = make.user()
    project = make_project(make, owner, visibility=visibility)
    share(make, project, make_group(make), 30)
    person: Any = {"nobody": None, "owner": owner}.get(who, make.user())

    answer = api.get(f"/projects/{project.id}/groups", person, with_shared=True)

    assert answer.status_code == status
    if status == 200:
        # The group is private, and neither user is a member.
        assert answer.json() == []
