"""Private addresses in commits that pages and the API make, and the users whom commits with them belong to."""

from typing import Any

import httpx
import pytest

from tests.api.merge_requests.factories import filled_project, make_merge_request
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, changed_settings
from tests.graphql.conftest import Graphql
from tests.web.browser import Browser
from tests.web.conftest import PASSWORD

HOST = "users.noreply.127.0.0.1"


def _private(user: User, host: str = HOST) -> str:
    return f"{user.id}-{user.username}@{host}"


def _choose(api: Api, make: Make, user: User, address: str | None) -> Any:
    changed = api.put(f"/users/{user.id}", make.root, commit_email=address)
    assert changed.status_code == 200, changed.text
    return changed.json()["commit_email"]


def _commit(api: Api, project: Project, user: User, path: str, **more: Any) -> dict[str, Any]:
    made = _try_to_commit(api, project, user, path, **more)
    assert made.status_code == 201, made.text
    return dict(made.json())


def _try_to_commit(api: Api, project: Project, user: User, path: str, **more: Any) -> httpx.Response:
    sent = {"branch": "master", "commit_message": f"Add {path}", **more}
    action = {"action": "create", "file_path": path, "content": path}
    return api.post(f"{project.url}/repository/commits", user, actions=[action], **sent)


def test_commits_of_the_api(api: Api, make: Make) -> None:
    owner = make.user()
    project, private = filled_project(make, owner), _private(owner)
    first = _commit(api, project, owner, "first")
    assert _choose(api, make, owner, "_private") == private
    assert api.get("/user", owner).json()["commit_email"] == private
    second = _commit(api, project, owner, "second")
    addresses = [{each["author_email"], each["committer_email"]} for each in (first, second)]
    assert addresses == [{api.get("/user", owner).json()["email"]}, {private}]
    assert _commit(api, project, owner, "third", author_email="other@example.com")["committer_email"] == private

    with changed_settings(make, commit_email_hostname="commits.example.com"):
        assert _commit(api, project, owner, "fourth")["author_email"] == _private(owner, "commits.example.com")
    assert _choose(api, make, owner, private.upper()) == private, "A client sends the object back."
    assert api.put(f"/users/{owner.id}", make.root, bio="Kept").json()["commit_email"] == private
    email = api.get("/user", owner).json()["email"]
    assert _choose(api, make, owner, email) == email
    assert _commit(api, project, owner, "fifth")["author_email"] == email
    refused = api.put(f"/users/{owner.id}", make.root, commit_email="other@example.com")
    message = {"commit_email": ["is not an email you own"]}
    assert (refused.status_code, refused.json()) == (400, {"message": message})


def test_any_confirmed_address(api: Api, make: Make) -> None:
    """Until the user no longer has it; addresses of others and unconfirmed ones are refused."""
    owner, other = make.user(), make.user()
    project, url = filled_project(make, owner), f"/users/{owner.id}/emails"
    primary, further = api.get("/user", owner).json()["email"], f"{make.name('work')}@example.com"
    added = api.post(url, make.root, email=further, skip_confirmation=True).json()
    unconfirmed, of_other = f"{make.name('open')}@example.com", api.get("/user", other).json()["email"]
    with changed_settings(make, send_user_confirmation_email=True):
        assert api.post("/user/emails", owner, email=unconfirmed).status_code == 201
    for address in (unconfirmed, of_other, f"{other.id}-{other.username}@{HOST}", "x", "x" * 300):
        refused = api.put(f"/users/{owner.id}", make.root, commit_email=address, bio="Refused")
        assert (refused.status_code, list(refused.json()["message"])) == (400, ["commit_email"]), address
    assert api.get(f"/users/{owner.id}", make.root).json()["bio"] != "Refused"
    assert _choose(api, make, owner, further.upper()) == further
    assert api.get("/user", owner).json()["commit_email"] == further
    made = _commit(api, project, owner, "further")
    assert (made["author_email"], made["committer_email"]) == (further, further)
    shown = {user["id"]: user for user in api.get("/users", make.root, search=owner.username).json()}
    assert shown[owner.id]["commit_email"] == further
    assert api.delete(f"/user/emails/{added['id']}", owner).status_code == 200
    assert api.get("/user", owner).json()["commit_email"] == primary
    assert _commit(api, project, owner, "primary")["author_email"] == primary


def test_a_chosen_address_that_becomes_the_primary_one(api: Api, make: Make) -> None:
    owner = make.user()
    first, second, third = (f"{make.name('mail')}@example.com" for _ in range(3))
    assert api.post(f"/users/{owner.id}/emails", make.root, email=first, skip_confirmation=True).status_code == 201
    assert _choose(api, make, owner, first) == first
    former = api.get("/user", owner).json()["email"]
    assert api.post(f"/users/{owner.id}/emails", make.root, email=second, skip_confirmation=True).status_code == 201
    changed = api.put(f"/users/{owner.id}", make.root, email=third, commit_email=former).json()
    assert (changed["email"], changed["commit_email"]) == (third, third)
    assert _choose(api, make, owner, second) == second
    changed = api.put(f"/users/{owner.id}", make.root, email=f"x-{third}").json()
    assert (changed["email"], changed["commit_email"]) == (f"x-{third}", second)


def test_merges_tags_and_new_projects(api: Api, make: Make) -> None:
    owner = make.user()
    project, private = filled_project(make, owner), _private(owner)
    merge_request = make_merge_request(make, project, owner)
    _choose(api, make, owner, "_private")
    merged = api.put(f"{project.url}/merge_requests/{merge_request['iid']}/merge", owner).json()
    merge = api.get(f"{project.url}/repository/commits/{merged['merge_commit_sha']}", owner).json()
    assert {merge["author_email"], merge["committer_email"]} == {private}
    made = api.post("/projects", owner, name=make.name("project"), initialize_with_readme=True).json()
    (first,) = api.get(f"/projects/{made['id']}/repository/commits", owner).json()
    assert first["author_email"] == private


def test_commits_belong_to_the_user_of_a_private_address(api: Api, make: Make, instance: Instance) -> None:
    owner, other = make.user(), make.user()
    project = filled_project(make, owner)
    query = (
        "query($path: ID!) { project(fullPath: $path) { repository { tree { lastCommit { author { username } } } } } }"
    )
    graphql = Graphql(instance.url)

    def author_of(address: str) -> str | None:
        _commit(api, project, owner, make.name("file"), author_email=address)
        author = graphql.data(query, owner, path=project.path)["project"]["repository"]["tree"]["lastCommit"]["author"]
        return author["username"] if author else None

    assert author_of(_private(other)) == other.username
    assert author_of(f"{other.id}-former-name@{HOST.upper()}") == other.username
    assert author_of(f"999999999-nobody@{HOST}") is None
    assert author_of(f"{other.id}@{HOST}") is None
    with changed_settings(make, commit_email_hostname="commits.example.com"):
        assert author_of(_private(other)) is None
        assert author_of(_private(other, "commits.example.com")) == other.username
    graphql.close()

    assert api.post(f"{project.url}/push_rule", owner, member_check=True).status_code == 201
    assert _commit(api, project, owner, "by-a-user", author_email=_private(other))["author_email"] == _private(other)
    refused = _try_to_commit(api, project, owner, "by-nobody", author_email=f"999999999-nobody@{HOST}")
    assert (refused.status_code, "is not a member of team" in refused.text) == (403, True)


def test_choice_on_the_page(api: Api, make: Make, instance: Instance) -> None:
    owner = make.user(password=PASSWORD)
    project = filled_project(make, owner)
    with Browser(instance.url) as browser:
        browser.sign_in(owner.username, PASSWORD)
        assert _private(owner) in browser.get("/profile/emails").text
        fields = {"_method": "put", "user[commit_email]": "_private"}
        assert browser.submit("/profile/emails", "/profile/emails/commits", **fields).status_code == 302
        assert f"selected>{_private(owner)}" in browser.get("/profile/emails").text
        assert _commit(api, project, owner, "private")["author_email"] == _private(owner)
        further = f"{make.name('work')}@example.com"
        api.post(f"/users/{owner.id}/emails", make.root, email=further, skip_confirmation=True)
        browser.submit("/profile/emails", "/profile/emails/commits", **{**fields, "user[commit_email]": further})
        assert f"selected>{further}" in browser.get("/profile/emails").text
        assert _commit(api, project, owner, "further")["author_email"] == further
        foreign = {**fields, "user[commit_email]": "other@example.com"}
        refused = browser.submit("/profile/emails", "/profile/emails/commits", **foreign)
        assert (refused.status_code, "is not an email you own" in refused.text) == (422, True)
        browser.submit("/profile/emails", "/profile/emails/commits", **{**fields, "user[commit_email]": ""})
    assert _commit(api, project, owner, "primary")["author_email"] != _private(owner)


@pytest.mark.parametrize("host", ["http://example.com", "a b.example", "@example.com", "example.com>"])
def test_invalid_hosts(api: Api, make: Make, host: str) -> None:
    refused = api.put("/application/settings", make.root, commit_email_hostname=host)
    assert (refused.status_code, refused.json()) == (400, {"message": {"commit_email_hostname": ["is invalid"]}})
