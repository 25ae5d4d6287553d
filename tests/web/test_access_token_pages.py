"""Pages of project and group access tokens and of feature flags."""

import re
from typing import Any

from ingot.core.access.scopes import SCOPES_WITHOUT_EFFECT
from ingot.projects.access_tokens.service import RETENTION_DAYS, delete_ended_bots
from tests.api.merge_requests.factories import filled_project, make_merge_request
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import add_members, later, make_group, make_project
from tests.web.browser import Browser


def _secret(text: str) -> str:
    found = re.search(r'id="created-access-token" value="([^"]+)"', text)
    assert found, text
    return found[1]


def test_access_tokens_are_created_rotated_and_revoked(api: Api, make: Make, browser: Browser, person: User) -> None:
    browser.signed_in_as(person)
    project, group = make_project(make, person), make_group(make, person)
    for parent, path in ((project, f"/{project.path}"), (group, f"/groups/{group.path}")):
        page = f"{path}/-/settings/access_tokens"
        fields = {
            "access_token[name]": "Builder",
            "access_token[description]": "Builds <b>",
            "access_token[access_level]": "30",
            "access_token[scopes][]": ["api"],
        }
        made = browser.submit(page, page, fields=fields)
        assert made.status_code == 200
        first = _secret(made.text)
        assert "Builds &lt;b&gt;" in made.text
        (token,) = api.get(f"{parent.url}/access_tokens", person).json()
        assert (token["name"], token["access_level"]) == ("Builder", 30)
        rotated = browser.submit(page, f"{page}/{token['id']}/rotate")
        second = _secret(rotated.text)
        assert first != second and second not in browser.get(page).text
        (active,) = api.get(f"{parent.url}/access_tokens", person, state="active").json()
        assert browser.submit(page, f"{page}/{active['id']}", does="delete").status_code == 302
        assert "has no active access tokens" in browser.get(page).text
        refused = browser.submit(page, page, fields={**fields, "access_token[scopes][]": []})
        assert refused.status_code == 422 and 'role="alert"' in refused.text


def test_pages_mark_what_bots_wrote(api: Api, make: Make, browser: Browser, person: User) -> None:
    project = filled_project(make)
    add_members(make, project, {person: 30})
    made = api.post(f"{project.url}/access_tokens", make.root, name="Robot <i>", scopes=["api"], access_level=30).json()
    robot = User(made["user_id"], "bot", "", made["token"])
    issue = api.post(f"{project.url}/issues", make.root, title="From a person").json()
    page = f"/{project.path}/-/issues/{issue['iid']}"
    browser.signed_in_as(person)
    mark = '<span class="badge">bot</span>'
    assert mark not in browser.get(page).text
    assert api.post(f"{project.url}/issues/{issue['iid']}/notes", robot, body="Done").status_code == 201
    shown = browser.get(page).text
    assert re.search(rf"Robot &lt;i&gt;</a> {mark}", shown) and shown.count(mark) == 1
    request = make_merge_request(make, project, robot)
    assert mark in browser.get(f"/{project.path}/-/merge_requests/{request['iid']}").text
    deployment = {"environment": "live", "sha": "a" * 40, "ref": "main", "tag": False, "status": "success"}
    assert api.post(f"{project.url}/deployments", robot, **deployment).status_code == 201
    pages = f"/{project.path}/-"
    for path in (
        "/activity",
        "/environments",
        "/search?scope=notes&search=Done",
        f"/search?scope=merge_requests&search={request['title']}",
    ):
        text = browser.get(f"{pages}{path}").text
        assert re.search(rf"Robot &lt;i&gt;(</a>)? {mark}", text), path
    shown = browser.get(f"{pages}/search?scope=issues&search=person").text
    assert "From a person" in shown and mark not in shown
    events = api.get(f"{project.url}/events", person).json()
    assert {each["author"].get("bot") for each in events if each["author_id"] == robot.id} == {True}
    assert {each["author"].get("bot") for each in events if each["author_id"] != robot.id} == {None}


def test_pages_and_responses_mark_commits_by_bots(
    api: Api, make: Make, browser: Browser, person: User, instance: Instance
) -> None:
    project = filled_project(make)
    add_members(make, project, {person: 30})
    made = api.post(f"{project.url}/access_tokens", make.root, name="Robot", scopes=["api"], access_level=40).json()
    robot = User(made["user_id"], "bot", "", made["token"])
    where = f"{project.url}/repository"
    action = {"action": "create", "content": "x", "file_path": "own"}
    sent: dict[str, Any] = {"branch": "master", "commit_message": "One"}
    own = api.post(f"{where}/commits", robot, **sent, actions=[action])
    assert own.json()["bot"] is True, own.text
    as_person = sent | {"author_name": "Ann", "author_email": "ann@example.org"}
    for_ann = api.post(f"{where}/commits", robot, **as_person, actions=[action | {"file_path": "anns"}]).json()
    assert (for_ann["bot"], for_ann["author_email"]) == (True, "ann@example.org")
    assert api.post(f"{where}/files/file", robot, **sent, content="x").status_code == 201
    by_person = api.post(f"{where}/commits", person, **sent, actions=[action | {"file_path": "other"}])
    assert by_person.status_code == 403
    people = api.post(f"{where}/commits", make.root, **sent, actions=[action | {"file_path": "other"}]).json()
    assert "bot" not in people
    listed = api.get(f"{where}/commits", person).json()
    assert [each.get("bot") for each in listed[:4]] == [None, True, True, True]
    assert {each.get("bot") for each in listed[4:]} == {None}
    assert api.get(f"{where}/commits/{own.json()['id']}", person).json()["bot"] is True
    (branch,) = [each for each in api.get(f"{where}/branches", person).json() if each["name"] == "master"]
    assert "bot" not in branch["commit"]
    mark = '<span class="badge">bot</span>'
    pages = f"/{project.path}/-"
    browser.signed_in_as(person)
    assert browser.get(f"{pages}/commits/master").text.count(mark) == 3
    assert f"<dd>Robot {mark}" in browser.get(f"{pages}/commit/{own.json()['id']}").text
    shown = browser.get(f"{pages}/commit/{for_ann['id']}").text
    assert "<dd>Ann <span" in shown and f"<dd>Robot {mark}" in shown
    assert mark not in browser.get(f"{pages}/commit/{people['id']}").text
    for file, count in (("own", 1), ("anns", 1), ("other", 0)):
        assert browser.get(f"{pages}/blame/master/{file}").text.count(mark) == count, file
        (part,) = api.get(f"{where}/files/{file}/blame", person, ref="master").json()
        assert part["commit"].get("bot") == (True if count else None), file
    found = browser.get(f"{pages}/search?scope=commits&search=One").text
    assert found.count(mark) == 3, "Not the commit of a person."
    assert api.delete(f"{project.url}/access_tokens/{made['id']}", make.root).status_code == 200
    with later(instance, days=RETENTION_DAYS + 1):
        instance.app.database.write(delete_ended_bots)
    assert api.get(f"{where}/commits/{own.json()['id']}", person).json()["bot"] is True


def test_forms_offer_only_scopes_with_an_effect(make: Make, browser: Browser, person: User) -> None:
    browser.signed_in_as(person)
    tokens = f"/{make_project(make, person).path}/-/settings/access_tokens"
    for page in (tokens, "/profile/personal_access_tokens", "/profile/applications"):
        text = browser.get(page).text
        assert 'value="read_registry"' in text, page
        assert [scope for scope in SCOPES_WITHOUT_EFFECT if f'value="{scope}"' in text] == [], page


def test_feature_flags_are_managed_on_a_page(api: Api, make: Make, browser: Browser, person: User) -> None:
    browser.signed_in_as(person)
    project = make_project(make, person)
    page = f"/{project.path}/-/feature_flags"
    assert "No feature flags" in browser.get(page).text
    lists = f"/{project.path}/-/feature_flags_user_lists"
    assert browser.submit(page, lists, fields={"list[name]": "Testers", "list[user_xids]": "u1,u2"}).status_code == 302
    fields = {
        "flag[name]": "dark_mode",
        "flag[strategy]": "flexibleRollout",
        "flag[percentage]": "25",
        "flag[environment_scope]": "production",
        "flag[active]": "1",
    }
    assert browser.submit(page, page, fields=fields).status_code == 302
    flag = api.get(f"{project.url}/feature_flags/dark_mode", person).json()
    assert flag["strategies"][0]["parameters"]["rollout"] == "25"
    assert flag["strategies"][0]["scopes"][0]["environment_scope"] == "production"
    answer = browser.get(page)
    assert answer.status_code == 200, answer.text
    shown = answer.text
    assert [text for text in ("dark_mode", "25 %", "Testers", "ingotu-") if text not in shown] == []
    assert browser.submit(page, f"{page}/dark_mode", does="put", fields={"flag[active]": "0"}).status_code == 302
    assert api.get(f"{project.url}/feature_flags/dark_mode", person).json()["active"] is False
    assert browser.submit(page, page, fields={**fields, "flag[name]": "Not valid"}).status_code == 422
    old = re.findall(r"ingotu-[0-9a-f]+", shown)[0]
    assert browser.submit(page, f"/{project.path}/-/feature_flags_client").status_code == 302
    assert old not in browser.get(page).text
    assert browser.submit(page, f"{page}/dark_mode", does="delete").status_code == 302
    assert browser.submit(page, f"{lists}/1", does="delete").status_code == 302


def test_push_rules_are_managed_on_a_page(api: Api, make: Make, browser: Browser, person: User) -> None:
    browser.signed_in_as(person)
    project = make_project(make, person)
    page = f"/{project.path}/-/settings/push_rules"
    fields = {"rule[commit_message_regex]": "^[A-Z]", "rule[max_file_size]": "", "rule[prevent_secrets]": "1"}
    for expected in ("^[A-Z]", "^[a-z]"):
        fields["rule[commit_message_regex]"] = expected
        assert browser.submit(page, page, does="put", fields=fields).status_code == 302
        rule = api.get(f"{project.url}/push_rule", person).json()
        assert (rule["commit_message_regex"], rule["prevent_secrets"]) == (expected, True)
        assert expected in browser.get(page).text
    refused = browser.submit(page, page, does="put", fields={"rule[file_name_regex]": "("})
    assert refused.status_code == 422 and 'role="alert"' in refused.text


def test_mirrors_are_managed_on_a_page(api: Api, make: Make, browser: Browser, person: User) -> None:
    browser.signed_in_as(person)
    project = make_project(make, person)
    page = f"/{project.path}/-/settings/mirrors"
    url = "https://me:hidden-password@git.example.com/x.git"
    assert browser.submit(page, page, fields={"mirror[url]": url}).status_code == 302
    shown = browser.get(page).text
    assert "git.example.com/x.git" in shown and "hidden-password" not in shown
    (mirror,) = api.get(f"{project.url}/remote_mirrors", person).json()
    one = f"{page}/{mirror['id']}"
    assert f"{one}/sync" in shown
    assert browser.submit(page, f"{one}/sync").status_code == 302
    assert browser.submit(page, one, does="put", fields={"mirror[enabled]": "0"}).status_code == 302
    assert f"{one}/sync" not in browser.get(page).text
    refused = browser.submit(page, page, fields={"mirror[url]": "ftp://me:hidden-password@x"})
    assert refused.status_code == 422 and "hidden-password" not in refused.text
    assert browser.submit(page, one, does="delete").status_code == 302
    assert "No mirrors" in browser.get(page).text
    pull = f"/{project.path}/-/settings/pull_mirror"
    fields = {"pull[url]": url, "pull[enabled]": "1", "pull[mirror_trigger_builds]": "1"}
    assert browser.submit(page, pull, does="put", fields=fields).status_code == 302
    shown = browser.get(page).text
    assert "git.example.com/x.git" in shown and "hidden-password" not in shown
    assert api.get(f"{project.url}/mirror/pull", person).json()["mirror_trigger_builds"] is True
    assert browser.submit(page, f"{pull}/update").status_code == 302
    refused = browser.submit(page, pull, does="put", fields={"pull[url]": "ftp://me:hidden-password@x"})
    assert refused.status_code == 422 and "hidden-password" not in refused.text
    assert browser.submit(page, pull, does="put", fields={"pull[enabled]": "0"}).status_code == 302
    assert api.get(f"{project.url}/mirror/pull", person).json()["enabled"] is False


def test_approval_rules_are_managed_on_a_page(api: Api, make: Make, browser: Browser, person: User) -> None:
    browser.signed_in_as(person)
    project, group = filled_project(make, person), make_group(make, person)
    page = f"/{project.path}/-/settings/approval_rules"
    assert "No approval rules" in browser.get(page).text
    fields = {"rule[name]": "Security", "rule[approvals_required]": "1", "rule[groups]": f"{group.path} no/group"}
    fields |= {"rule[usernames]": f"@{person.username}, nobody-here", "rule[protected]": "1"}
    assert browser.submit(page, page, does="post", fields=fields).status_code == 302
    (rule,) = api.get(f"{project.url}/approval_rules", person).json()
    assert [user["id"] for user in rule["users"]] == [person.id]
    assert ([one["id"] for one in rule["groups"]], rule["applies_to_all_protected_branches"]) == ([group.id], True)
    shown = browser.get(page).text
    assert "Security" in shown and f"@{person.username}" in shown
    refused = browser.submit(page, page, does="post", fields=fields)
    assert refused.status_code == 422 and 'role="alert"' in refused.text
    made = make_merge_request(make, project, person)
    overview = browser.get(f"/{project.path}/-/merge_requests/{made['iid']}").text
    assert "Required approvals are missing." in overview and "Security: 0 / 1" in overview
    assert browser.submit(page, f"{page}/{rule['id']}", does="delete").status_code == 302
    settings = {"approvals[approvals_before_merge]": "2", "approvals[reset_approvals_on_push]": "1"}
    assert browser.submit(page, page, does="put", fields=settings).status_code == 302
    stored = api.get(f"{project.url}/approvals", person).json()
    assert (stored["approvals_before_merge"], stored["reset_approvals_on_push"]) == (2, True)
