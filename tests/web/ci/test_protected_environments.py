"""Pages of protected environments of projects and groups."""

from tests.client import Make
from tests.factories import add_members, make_group, share
from tests.web.ci.scene import CiScene

_CONFIG = "deploy: {script: d, environment: production}"


def test_environments_are_protected_and_unprotected(scene: CiScene, make: Make) -> None:
    browser, address = scene.browser(), f"{scene.path}/-/settings/protected_environments"
    scene.commit(_CONFIG)
    page = browser.get(address).text
    assert "No protected environments" in page and '<option value="production">' in page
    group, developer = make_group(make, scene.owner), make.user()
    add_members(make, scene.project, {developer: 30})
    share(make, scene.project, group, 30)
    fields = {
        "environment[name]": "production",
        "environment[access_level]": "40",
        "environment[usernames]": f"@{developer.username}",
        "environment[groups]": group.path,
        "environment[inherited]": "1",
    }
    assert browser.submit(address, address, fields=fields).status_code == 302
    api = f"{scene.project.url}/protected_environments/production"
    levels = make.api.get(api, scene.owner).json()["deploy_access_levels"]
    assert [(each["access_level"], each["user_id"], each["group_id"]) for each in levels] == [
        (40, None, None),
        (None, developer.id, None),
        (None, None, group.id),
    ]
    assert "with inherited members" in browser.get(address).text
    for field, typed in (("usernames", "no-such-user"), ("groups", "no-such-group"), ("access_level", "40")):
        wrong = {"environment[name]": "production", f"environment[{field}]": typed}
        assert browser.submit(address, address, fields=wrong, does="put").status_code == 422, field
    nothing = browser.submit(address, address, fields={"environment[name]": "production"}, does="put")
    assert nothing.status_code == 422 and "Choose a role" in nothing.text
    refused = browser.submit(address, address, fields=fields, does="post")
    assert refused.status_code == 422 and "already exists" in refused.text
    more = {"environment[name]": "production", "environment[access_level]": "60"}
    assert browser.submit(address, address, fields=more, does="put").status_code == 302
    for removed in (levels[0], levels[2]):
        assert browser.submit(address, f"{address}/levels/{removed['id']}", does="delete").status_code == 302
    levels = make.api.get(api, scene.owner).json()["deploy_access_levels"]
    assert [each["access_level"] for each in levels] == [None, 60]
    (environment,) = make.api.get(f"{scene.project.url}/environments", scene.owner).json()
    one = f"{scene.path}/-/environments/{environment['id']}"
    for shown in (one, f"{scene.path}/-/environments"):
        assert ">protected</span>" in browser.get(shown).text
    # The owner is not among those who may deploy.
    assert f"{one}/stop" not in browser.get(one).text
    gone = {"environment[name]": "production"}
    assert browser.submit(address, address, fields=gone, does="delete").status_code == 302
    assert "No protected environments" in browser.get(address).text
    assert ">protected</span>" not in browser.get(one).text


def test_developers_do_not_see_the_page(scene: CiScene, make: Make) -> None:
    developer = make.user(password="correct horse battery")
    add_members(make, scene.project, {developer: 30})
    page = f"{scene.path}/-/settings/protected_environments"
    assert scene.browser(developer).get(page).status_code == 404


def test_tiers_of_a_group_are_protected(scene: CiScene, make: Make) -> None:
    group = make_group(make, scene.owner)
    address = f"/groups/{group.path}/-/settings/protected_environments"
    browser = scene.browser()
    assert "<option>staging" in browser.get(address).text
    fields = {"environment[name]": "staging", "environment[access_level]": "40"}
    assert browser.submit(address, address, fields=fields).status_code == 302
    (rule,) = make.api.get(f"{group.url}/protected_environments", scene.owner).json()
    assert (rule["name"], rule["deploy_access_levels"][0]["access_level"]) == ("staging", 40)
    assert browser.submit(address, address, fields=fields, does="delete").status_code == 302
    assert make.api.get(f"{group.url}/protected_environments", scene.owner).json() == []
