"""Deploy keys of protected branches on the page of repository settings."""

from tests.client import Api, Make, User
from tests.factories import make_project
from tests.ssh_public_keys import ed25519_line
from tests.web.browser import Browser


def test_a_deploy_key_is_allowed_and_removed(browser: Browser, api: Api, make: Make, person: User) -> None:
    project = make_project(make, person)
    owner = browser.signed_in_as(person)
    settings = f"/{project.path}/-/settings"
    sent = {"title": "<b>robot</b>", "key": ed25519_line(), "can_push": True}
    key_id = api.post(f"{project.url}/deploy_keys", person, **sent).json()["id"]

    def named_keys() -> list[int]:
        levels = api.get(f"{project.url}/protected_branches/master", person).json()["push_access_levels"]
        return [level["deploy_key_id"] for level in levels if level["deploy_key_id"] is not None]

    def submit(path: str, method: str, **fields: str) -> str:
        data = {"authenticity_token": owner.token(), "_method": method, "rule[name]": "master", **fields}
        answer = owner.post(f"{settings}/{path}", data=data)
        assert answer.status_code == 302, answer.text
        return owner.get(f"{settings}/repository").text

    assert "Allow deploy key" in owner.get(f"{settings}/repository").text
    levels = {"rule[push_access_level]": "40", "rule[merge_access_level]": "30"}
    page = submit("protected_branches", "put", **levels, **{"rule[deploy_key]": str(key_id)})
    assert named_keys() == [key_id]
    assert "Deploy key &lt;b&gt;robot&lt;/b&gt; can push" in page
    page = submit("protected_branches", "put", **levels)
    assert named_keys() == [key_id]
    submit("protected_branches/deploy_keys", "delete", **{"rule[deploy_key]": str(key_id)})
    assert named_keys() == []
