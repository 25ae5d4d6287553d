"""Namespaces of users: visibility, renaming and deletion."""

import pytest

from ingot.core.access.levels import Level
from tests.client import Api, Make, User
from tests.factories import make_group


def test_every_user_has_a_namespace_with_their_name(api: Api, make: Make) -> None:
    user = make.user()

    listed = api.get("/namespaces", user)

    assert (listed.status_code, listed.headers["x-total"]) == (200, "1")
    (namespace,) = listed.json()
    assert namespace | {"kind": "user", "path": user.username, "full_path": user.username} == namespace
    assert namespace["parent_id"] is None
    assert namespace["web_url"].endswith(f"/{user.username}")
    assert "members_count_with_descendants" not in namespace


CALLERS = [
    ("nobody", 401, 401, None),
    ("stranger", 200, 404, False),
    ("owner", 200, 200, True),
    ("root", 200, 200, True),
]


@pytest.mark.parametrize(("who", "lists", "reads", "finds"), CALLERS)
def test_users_see_their_own_and_administrators_see_all(
    api: Api, make: Make, who: str, lists: int, reads: int, finds: bool | None
) -> None:
    owner = make.user()
    namespace_id = api.get("/namespaces", owner).json()[0]["id"]
    caller = {"nobody": None, "stranger": make.user(), "owner": owner, "root": make.root}[who]

    listed = api.get("/namespaces", caller, search=owner.username)
    assert listed.status_code == lists
    if finds is not None:
        assert (namespace_id in [each["id"] for each in listed.json()]) is finds
    for name in (str(namespace_id), owner.username, owner.username.upper()):
        answer = api.get(f"/namespaces/{name}", caller)
        assert answer.status_code == reads
        if reads == 200:
            assert answer.json()["id"] == namespace_id


@pytest.mark.parametrize(
    ("change", "found"), [(str.upper, True), (lambda name: name[1:], True), (lambda _: "%", False)]
)
def test_search_matches_paths_ignoring_case(api: Api, make: Make, change: object, found: bool) -> None:
    user = make.user(username=make.name("Searched"))
    term = change(user.username)  # type: ignore[operator]

    paths = [each["path"] for each in api.get("/namespaces", make.root, search=term, per_page=100).json()]

    assert (user.username in paths) is found


def test_renaming_a_user_renames_the_namespace(api: Api, make: Make) -> None:
    user, renamed = make.user(), make.name("renamed")
    before = api.get("/namespaces", user).json()[0]

    assert api.put(f"/users/{user.id}", make.root, username=renamed).status_code == 200

    after = api.get("/namespaces", user).json()[0]
    assert (after["id"], after["path"], after["full_path"]) == (before["id"], renamed, renamed)
    assert api.get(f"/namespaces/{user.username}", make.root).status_code == 404


def test_deleting_a_user_deletes_the_namespace(api: Api, make: Make) -> None:
    user = make.user()
    namespace_id = api.get("/namespaces", user).json()[0]["id"]
    api.delete(f"/users/{user.id}", make.root)

    assert api.get(f"/namespaces/{namespace_id}", make.root).status_code == 404
    assert make.user(username=user.username).username == user.username


@pytest.mark.parametrize(("who", "status"), [("nobody", 401), ("stranger", 200), ("root", 200)])
def test_users_may_check_whether_a_path_exists(api: Api, make: Make, who: str, status: int) -> None:
    user = make.user()
    caller = {"nobody": None, "stranger": make.user(), "root": make.root}[who]

    taken = api.get(f"/namespaces/{user.username.upper()}/exists", caller)
    free = api.get(f"/namespaces/{make.name('free')}/exists", caller)

    assert (taken.status_code, free.status_code) == (status, status)
    if status == 200:
        (suggested,) = taken.json()["suggests"]
        assert taken.json()["exists"] is True
        assert free.json() == {"exists": False, "suggests": []}
        assert api.get(f"/namespaces/{suggested}/exists", caller).json()["exists"] is False


def test_owned_only(api: Api, make: Make) -> None:
    """The user's namespace and groups owned directly or through a parent, for administrators too."""
    user = make.user()
    owned = make_group(make, user)
    below = make_group(make, user, parent=owned)
    served = make_group(make, members={user: Level.MASTER})
    own = api.get("/namespaces", user, search=user.username).json()[0]["id"]

    def listed(who: User, **sent: object) -> set[int]:
        return {each["id"] for each in api.get("/namespaces", who, per_page=100, **sent).json()}

    assert listed(user) == {own, owned.id, below.id, served.id}
    assert listed(user, owned_only=True) == {own, owned.id, below.id}
    assert listed(user, owned_only=True, search=below.path) == {below.id}
    assert listed(make.root, owned_only=True, search=owned.path) == set()
    assert listed(make.root, search=owned.path) >= {owned.id}
    assert listed(make.root, owned_only=True, search=served.path) == {served.id}
    assert api.get("/namespaces", user, owned_only="maybe").status_code == 400
