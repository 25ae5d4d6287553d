"""Integrations of groups: projects and subgroups use them unless they have their own."""

from typing import Any

import pytest
from sqlalchemy import bindparam, func, select

from ingot.integrations.queries import external_tracker_or_none
from ingot.integrations.registry import REGISTRY
from ingot.webhooks.delivery.tables import hook_deliveries
from ingot.webhooks.tables import hook_events
from tests.api.hooks.receiver import Receiver
from tests.api.services.conftest import SECRET, values_for
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Group, Project, make_group, make_project, statements_of

TRACKER = {
    "project_url": "https://x.example/p",
    "issues_url": "https://x.example/:id",
    "new_issue_url": "https://x.example",
}
_NEWEST_EVENT = select(func.max(hook_events.c.id))
_DELIVERIES = select(func.count()).select_from(hook_deliveries).where(hook_deliveries.c.event_id > bindparam("before"))


def put(api: Api, place: Group | Project, slug: str, user: User, **sent: Any) -> Any:
    """Set up an integration."""
    answer = api.put(f"{place.url}/integrations/{slug}", user, **sent)
    assert answer.status_code == 200, answer.text
    return answer.json()


def get(api: Api, place: Group | Project, slug: str, user: User) -> Any:
    """Return an integration."""
    answer = api.get(f"{place.url}/integrations/{slug}", user)
    assert answer.status_code == 200, answer.text
    return answer.json()


def delete(api: Api, place: Group | Project, slug: str, user: User) -> None:
    """Delete an integration."""
    status = 204 if isinstance(place, Group) else 200
    assert api.delete(f"{place.url}/integrations/{slug}", user).status_code == status


@pytest.mark.parametrize("slug", sorted(REGISTRY))
def test_groups_have_the_integrations_of_projects(api: Api, make: Make, slug: str) -> None:
    group, values = make_group(make), values_for(REGISTRY[slug])
    project = make_project(make, group=group)
    made = put(api, group, slug, make.root, **values)
    is_active = REGISTRY[slug].kind != "none"
    assert (made["slug"], made["active"], made["inherited"]) == (slug, is_active, False)
    assert get(api, group, slug, make.root) == made
    secrets = REGISTRY[slug].secrets
    assert made["properties"] == {name: value for name, value in values.items() if name not in secrets}
    inherited = api.get(f"{project.url}/services/{slug}", make.root)
    if is_active:
        assert inherited.json() == {**made, "inherited": True}
    assert SECRET not in inherited.text
    for required in (each.name for each in REGISTRY[slug].properties if each.required and not each.secret):
        missing = {name: value for name, value in values.items() if name != required}
        assert api.put(f"{group.url}/integrations/{slug}", make.root, **missing).status_code == 400
    delete(api, group, slug, make.root)
    for place in (group, project):
        assert (get(api, place, slug, make.root)["active"], get(api, place, slug, make.root)["id"]) == (False, None)


def test_owners_of_the_group_manage_its_integrations(api: Api, make: Make) -> None:
    owner, maintainer, stranger = make.user(), make.user(), make.user()
    group = make_group(make, owner, visibility="private")
    api.post(f"{group.url}/members", owner, user_id=maintainer.id, access_level=40)
    project = make_project(make, owner, group=group)
    put(api, group, "slack", owner, webhook="https://chat.example/x")
    for path in ("", "/slack"):
        assert api.get(f"{group.url}/integrations{path}", maintainer).status_code == 403
        assert api.get(f"{group.url}/integrations{path}", stranger).status_code == 404
    assert api.put(f"{group.url}/integrations/slack", maintainer, webhook="https://y.example").status_code == 403
    assert api.delete(f"{group.url}/integrations/slack", maintainer).status_code == 403
    assert api.get(f"{group.url}/integrations/no-such", owner).status_code == 404
    bad = api.put(f"{group.url}/integrations/slack", owner, webhook="ftp://chat.example")
    assert bad.status_code == 400
    assert get(api, project, "slack", maintainer)["inherited"] is True
    # The webhook of the integration is not one of the group's webhooks.
    assert api.get(f"{group.url}/hooks", owner).json() == []


def test_lists_hold_the_nearest_integration_once(api: Api, make: Make) -> None:
    top = make_group(make)
    sub = make_group(make, parent=top)
    project = make_project(make, group=sub)
    far = put(api, top, "redmine", make.root, **TRACKER)
    put(api, top, "asana", make.root, api_key="x")
    near = put(api, sub, "redmine", make.root, **TRACKER)
    own = put(api, project, "slack", make.root, webhook="https://chat.example/x")
    put(api, top, "slack", make.root, webhook="https://chat.example/y")

    def listed(place: Group | Project) -> dict[str, tuple[int, bool]]:
        answer = api.get(f"{place.url}/integrations", make.root)
        assert answer.headers["X-Total"] == str(len(answer.json()))
        return {each["slug"]: (each["id"], each["inherited"]) for each in answer.json()}

    shown = listed(project)
    assert (shown["redmine"], shown["slack"], shown["asana"][1]) == ((near["id"], True), (own["id"], False), True)
    assert listed(top)["redmine"] == (far["id"], False)
    assert (listed(sub)["redmine"], listed(sub)["asana"][1]) == ((near["id"], False), True)
    # An inactive integration of a nearer group blocks the active one of a group above.
    put(api, sub, "redmine", make.root, **TRACKER, active=False)
    assert "redmine" not in listed(project)
    delete(api, sub, "redmine", make.root)
    assert (get(api, sub, "redmine", make.root)["active"], "redmine" in listed(project)) == (False, False)
    put(api, sub, "redmine", make.root, **TRACKER, use_inherited_settings=True)
    assert listed(project)["redmine"] == (far["id"], True)
    other = make_project(make)
    assert listed(other) == {}
    api.put(f"{other.url}/transfer", make.root, namespace=sub.id)
    assert listed(other)["redmine"] == (far["id"], True)
    api.put(f"{other.url}/transfer", make.root, namespace=make.root.username)
    assert listed(other) == {}
    few = statements_of(make, lambda: api.get(f"{project.url}/integrations", make.root, per_page=1))
    assert statements_of(make, lambda: api.get(f"{project.url}/integrations", make.root)) <= few


def test_projects_switch_between_own_and_inherited_settings(api: Api, make: Make) -> None:
    group = make_group(make)
    project, other = make_project(make, group=group), make_project(make)
    sent = {"webhook": "https://chat.example/own", "channel": "own"}
    refused = api.put(f"{other.url}/integrations/slack", make.root, **sent, use_inherited_settings=True)
    assert refused.status_code == 400
    assert "to inherit" in refused.text
    of_group = put(api, group, "slack", make.root, webhook="https://chat.example/x", channel="group")
    own = put(api, project, "slack", make.root, **sent, use_inherited_settings=False)
    assert (own["inherited"], own["properties"]["channel"]) == (False, "own")
    again = put(api, project, "slack", make.root, **sent, use_inherited_settings=True)
    assert again == {**of_group, "inherited": True}
    # A project that deletes the integration does not use that of the group either.
    delete(api, project, "slack", make.root)
    off = get(api, project, "slack", make.root)
    assert (off["active"], off["inherited"], off["properties"]) == (False, False, {})
    assert put(api, project, "slack", make.root, **sent, use_inherited_settings=True)["active"] is True


@pytest.mark.usefixtures("dispatcher")
def test_messages_are_sent_with_the_inherited_settings(api: Api, make: Make, receiver: Receiver) -> None:
    top = make_group(make)
    sub = make_group(make, parent=top)
    project = make_project(make, group=sub)

    def receivers() -> list[str]:
        """Return the paths that receive a message about a new issue."""
        before = make.database.read(lambda db: db.value(_NEWEST_EVENT))
        assert api.post(f"{project.url}/issues", make.root, title="x").status_code == 201
        count = make.database.read(lambda db: db.value(_DELIVERIES, before=before or 0))
        return sorted(each.path for each in receiver.some(count))

    assert receivers() == []
    put(api, top, "slack", make.root, webhook=receiver.url("/top"))
    put(api, top, "mattermost", make.root, webhook=receiver.url("/chat"))
    assert receivers() == ["/chat", "/top"]
    put(api, sub, "slack", make.root, webhook=receiver.url("/sub"))
    delete(api, project, "mattermost", make.root)
    assert receivers() == ["/sub"]
    put(api, project, "slack", make.root, webhook=receiver.url("/own"))
    assert receivers() == ["/own"]
    put(api, project, "slack", make.root, webhook=receiver.url("/own"), active=False)
    assert receivers() == []
    put(api, project, "slack", make.root, webhook=receiver.url("/own"), use_inherited_settings=True)
    put(api, sub, "slack", make.root, webhook=receiver.url("/changed"))
    assert receivers() == ["/changed"]
    put(api, sub, "slack", make.root, webhook=receiver.url("/changed"), active=False)
    assert receivers() == []
    put(api, sub, "slack", make.root, webhook=receiver.url("/changed"), use_inherited_settings=True)
    assert receivers() == ["/top"]
    delete(api, top, "slack", make.root)
    assert receivers() == []


def test_emails_are_sent_with_the_inherited_settings(api: Api, make: Make, instance: Instance) -> None:
    group, to = make_group(make), f"{make.name('reader')}@example.com"
    project = make_project(make, group=group, initialize_with_readme=True)
    put(api, group, "emails-on-push", make.root, recipients=to)
    assert api.post(f"{project.url}/repository/branches", make.root, branch="a", ref="master").status_code == 201
    delete(api, group, "emails-on-push", make.root)
    assert api.post(f"{project.url}/repository/branches", make.root, branch="b", ref="master").status_code == 201
    mails = [each for each in instance.mails() if f"To: {to}" in each]
    assert mails == []  # The job runs after the settings have been deleted.
    put(api, group, "emails-on-push", make.root, recipients=to)
    assert api.post(f"{project.url}/repository/branches", make.root, branch="c", ref="master").status_code == 201
    (mail,) = (each for each in instance.mails() if f"To: {to}" in each)
    assert "Pushed new branch c" in mail


def test_trackers_are_inherited_after_own_ones(api: Api, make: Make) -> None:
    group = make_group(make)
    project = make_project(make, group=group)

    def tracker() -> str | None:
        found = make.database.read(lambda db: external_tracker_or_none(db, project.id))
        return None if found is None else found.title

    put(api, group, "redmine", make.root, **TRACKER, title="Of the group")
    assert tracker() == "Of the group"
    html = api.post("/markdown", make.root, text="#12", gfm=True, project=project.path).json()["html"]
    assert "https://x.example/12" in html
    put(api, project, "bugzilla", make.root, **TRACKER, title="Own")
    assert tracker() == "Own"
    delete(api, project, "bugzilla", make.root)
    put(api, project, "redmine", make.root, **TRACKER, active=False)
    assert tracker() is None
    put(api, project, "redmine", make.root, **TRACKER, use_inherited_settings=True)
    assert tracker() == "Of the group"
    delete(api, group, "redmine", make.root)
    assert tracker() is None
