"""Protected branches of groups: permissions, and their effect on the projects of subgroups."""

from tests.client import Api, Make
from tests.factories import make_group


def test_owners_protect_branches_of_all_projects(api: Api, make: Make) -> None:
    owner, maintainer, stranger = make.user(), make.user(), make.user()
    group = make_group(make, owner)
    api.post(f"{group.url}/members", owner, user_id=maintainer.id, access_level=40)
    where = f"{group.url}/protected_branches"
    made = api.post(where, owner, name="*-stable", push_access_level=0, merge_access_level=30)
    assert (made.status_code, made.json()["inherited"]) == (201, False), made.text
    assert api.post(where, owner, name="*-stable").status_code == 409
    assert api.post(where, owner, name=" ").status_code == 400
    assert api.post(where, owner, name="x", push_access_level=35).status_code == 400
    for caller, status in ((maintainer, 403), (stranger, 404), (None, 401)):
        assert api.get(where, caller).status_code == status
        assert api.post(where, caller, name="b").status_code == status
        assert api.get(f"{where}/*-stable", caller).status_code == status
        assert api.request("PATCH", f"{where}/*-stable", caller, json={"allow_force_push": True}).status_code == status
        assert api.delete(f"{where}/*-stable", caller).status_code == status
    subgroup = make_group(make, owner, parent=group)
    project = f"/projects/{api.post('/projects', owner, name='p', namespace_id=subgroup.id).json()['id']}"
    sent = {"branch": "master", "commit_message": "First", "content": "x"}
    assert api.post(f"{project}/repository/files/a", owner, **sent).status_code == 201
    branches = f"{project}/repository/branches"
    api.post(branches, owner, branch="ok", ref="master")
    assert api.post(branches, maintainer, branch="1-stable", ref="master").status_code == 403
    (inherited,) = [rule for rule in api.get(f"{project}/protected_branches", owner).json() if rule["inherited"]]
    assert (inherited["name"], inherited["push_access_levels"][0]["access_level"]) == ("*-stable", 0)
    # A rule of the project does not weaken that of the group.
    assert api.post(f"{project}/protected_branches", owner, name="1-stable", push_access_level=30).status_code == 201
    assert api.post(branches, maintainer, branch="1-stable", ref="master").status_code == 403
    assert api.request("PATCH", f"{where}/*-stable", owner, json={"push_access_level": 40}).status_code == 200
    assert api.post(branches, maintainer, branch="1-stable", ref="master").status_code == 201
    assert api.get(f"{branches}/1-stable", owner).json()["protected"] is True
    assert api.delete(f"{where}/*-stable", owner).status_code == 204
    assert api.get(f"{where}/*-stable", owner).status_code == 404
    assert api.get(where, owner).json() == []
