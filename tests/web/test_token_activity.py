"""Pages with the calls that changed something, made with access tokens."""

from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import make_group, make_project
from tests.web.browser import Browser


def test_activity_of_tokens_is_linked_and_shown(
    instance: Instance, api: Api, make: Make, browser: Browser, person: User
) -> None:
    instance.app.audit_log.write_pending()
    project, group = make_project(make, person), make_group(make, person)
    sent = {"name": "Robot <b>", "scopes": ["api"]}
    mine = api.post(f"/users/{person.id}/personal_access_tokens", make.root, **sent).json()
    browser.signed_in_as(person)
    lists = [("/profile/personal_access_tokens", f"/profile/personal_access_tokens/{mine['id']}/activity", mine)]
    for parent, path in ((project, f"/{project.path}"), (group, f"/groups/{group.path}")):
        made = api.post(f"{parent.url}/access_tokens", make.root, **sent).json()
        tokens = f"{path}/-/settings/access_tokens"
        lists.append((tokens, f"{tokens}/{made['id']}/activity", made))
    for tokens, activity, made in lists:
        assert f'href="{activity}"' in browser.get(tokens).text
        assert "No activity yet" in browser.get(activity).text
        where = group.url if "/groups/" in activity else project.url
        caller = User(0, "", "", made["token"])
        assert api.post(f"{where}/labels", caller, name=f"by {made['id']}", color="#112233").status_code == 201
        instance.app.audit_log.write_pending()
        shown = browser.get(activity).text
        assert "/:id/labels" in shown
        assert (group.path if "/groups/" in activity else project.path) in shown and "127.0.0.1" in shown
    everything = browser.get("/profile/token_activity").text
    assert everything.count("Robot &lt;b&gt;") == 1 and "<b>" not in everything
    assert browser.get("/profile/personal_access_tokens/999999999/activity").status_code == 404


def test_activity_of_others_is_hidden(api: Api, make: Make, browser: Browser, person: User) -> None:
    other = make.user()
    token = api.get("/personal_access_tokens/self", other).json()["id"]
    project = make_project(make, other, visibility="public")
    made = api.post(f"{project.url}/access_tokens", make.root, name="r", scopes=["api"]).json()
    assert browser.get("/profile/token_activity").status_code == 302
    browser.signed_in_as(person)
    assert browser.get(f"/profile/personal_access_tokens/{token}/activity").status_code == 404
    assert browser.get(f"/{project.path}/-/settings/access_tokens/{made['id']}/activity").status_code in (403, 404)
