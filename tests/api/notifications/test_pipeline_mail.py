"""Mail about pipelines, through a real SMTP server: failures to the user who pushed, successes if enabled."""

from collections.abc import Iterator
from typing import Any

import pytest

from ingot.core.access.levels import Level
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, make_project
from tests.smtp_server import Mailbox, mailbox, text_of


@pytest.fixture(scope="module")
def box(instance: Instance) -> Iterator[Mailbox]:
    """Yield the mailbox of the SMTP server."""
    with mailbox(instance) as arriving:
        yield arriving


def _push(api: Api, project: Project, pusher: User, branch: str = "master") -> str:
    action = {"action": "create", "file_path": f"{branch}-{pusher.username}", "content": "x"}
    sent = {"branch": branch, "commit_message": "More", "actions": [action]}
    if branch != "master":
        sent["start_branch"] = "master"
    made = api.post(f"/projects/{project.id}/repository/commits", pusher, **sent)
    assert made.status_code == 201, made.text
    oid: str = made.json()["id"]
    return oid


def _report(api: Api, project: Project, robot: User, oid: str, state: str, name: str = "build") -> None:
    answer = api.post(f"/projects/{project.id}/statuses/{oid}", robot, state=state, name=name)
    assert answer.status_code == 201, answer.text


def test_a_failure_is_sent_to_the_user_who_pushed(api: Api, instance: Instance, make: Make, box: Mailbox) -> None:
    """Once, as text and HTML, and not to the reporter of the status; a success is not sent."""
    pusher, robot = make.user(), make.user()
    members = {pusher: Level.MASTER, robot: Level.MASTER}
    project = make_project(make, make.user(), members=members, initialize_with_readme=True)
    oid = _push(api, project, pusher)
    _report(api, project, robot, oid, "running")
    assert box.receive() == []

    _report(api, project, robot, oid, "failed")
    _report(api, project, robot, oid, "failed", name="lint")  # It has failed before.

    ((to, message),) = box.receive()
    assert to == pusher.email
    sentence = rf"{project.name} | Pipeline #"
    assert message["Subject"].startswith(sentence) and message["Subject"].endswith(f"has failed for master ({oid[:8]})")
    assert message["Auto-Submitted"] == "auto-generated"
    page = f"{instance.settings.base_url}/{project.path}/pipelines/"
    assert page in text_of(message) and page in text_of(message, "html")
    _report(api, project, robot, _push(api, project, pusher, "other"), "success")
    assert box.receive() == []


PREFERENCES: list[tuple[dict[str, Any], set[str]]] = [
    ({"level": "participating"}, {"failed"}),
    ({"level": "watch"}, {"failed"}),
    ({"level": "mention"}, set()),
    ({"level": "disabled"}, set()),
    ({"level": "custom"}, {"failed"}),
    ({"level": "custom", "success_pipeline": True}, {"failed", "success"}),
    ({"level": "custom", "failed_pipeline": False}, set()),
]


def test_notification_preferences(api: Api, make: Make, box: Mailbox) -> None:
    """Each level and each custom event, at every scope."""
    pusher = make.user()
    project = make_project(make, pusher, initialize_with_readme=True)
    for number, (wish, told) in enumerate(PREFERENCES):
        place = "/notification_settings" if number % 2 else f"/projects/{project.id}/notification_settings"
        if not place.startswith("/projects"):
            api.put(f"/projects/{project.id}/notification_settings", pusher, level="global")
        asked = {"failed_pipeline": True, "success_pipeline": False, **wish}
        assert api.put(place, pusher, **asked).status_code == 200
        heard = set()
        for state in ("failed", "success"):
            _report(api, project, pusher, _push(api, project, pusher, f"b{number}-{state}"), state)
            heard |= {state for _, message in box.receive() if ("failed" in message["Subject"]) == (state == "failed")}
        assert heard == told, wish


def test_users_without_code_access_are_not_notified(api: Api, make: Make, box: Mailbox) -> None:
    """Access may be lost between the failure and the mail."""
    owner, pusher = make.user(), make.user()
    project = make_project(make, owner, members={pusher: Level.MASTER}, initialize_with_readme=True)
    first, second = _push(api, project, pusher), _push(api, project, pusher, "other")
    _report(api, project, owner, first, "failed")
    assert api.put(f"/projects/{project.id}/members/{pusher.id}", owner, access_level=10).status_code == 200
    assert box.receive() == []
    assert api.delete(f"/projects/{project.id}/members/{pusher.id}", owner).status_code < 300
    _report(api, project, owner, second, "failed")
    assert box.receive() == []
