"""Runner pages of projects, groups and the instance."""

import re

from sqlalchemy import func, select

from ingot.ci.runners.registration import group_registration_token
from ingot.ci.runners.tables import runners
from tests.ci.runner_client import make_runner, project_runner
from tests.client import Make
from tests.factories import make_group, make_project, statements_of
from tests.web.ci.scene import CiScene


def test_runner_is_created_with_a_token_that_is_shown_once(scene: CiScene) -> None:
    browser, address = scene.browser(), f"{scene.path}/-/runners"
    fields = {"runner[description]": "Old laptop", "runner[tag_list]": "arm, slow", "runner[run_untagged]": "1"}
    created = browser.submit(f"{address}/new", address, fields=fields)
    assert created.status_code == 200, created.text
    token = re.search(r'value="(glrt-[^"]+)"', created.text)
    assert token is not None
    assert f"gitlab-runner register --url {scene.url} --token {token[1]}" in created.text
    page = browser.get(address).text
    assert token[1] not in page
    for text in ("Old laptop", "arm", "Never contacted", "never contacted"):
        assert text in page, text
    rejected = browser.submit(f"{address}/new", address, fields={**fields, "runner[maximum_timeout]": "x"})
    assert rejected.status_code == 422
    assert 'value="Old laptop"' in rejected.text


def test_runner_is_paused_edited_and_removed(scene: CiScene, make: Make) -> None:
    browser, address = scene.browser(), f"{scene.path}/-/runners"
    runner = f"{address}/{scene.runner.id}"
    assert browser.submit(address, f"{runner}/pause").status_code == 302
    assert "Paused</span>" in browser.get(address).text
    assert browser.submit(address, f"{runner}/resume").status_code == 302
    fields = {"runner[description]": "New name", "runner[tag_list]": "gpu", "runner[run_untagged]": "1"}
    assert browser.submit(f"{runner}/edit", runner, does="put", fields=fields).status_code == 302
    details = make.api.get(f"/runners/{scene.runner.id}", make.root).json()
    assert (details["description"], details["tag_list"], details["paused"]) == ("New name", ["gpu"], False)
    assert browser.submit(address, runner, does="delete").status_code == 302
    assert make.api.get(f"/runners/{scene.runner.id}", make.root).status_code == 404


def test_runner_of_another_project_is_enabled_and_disabled(scene: CiScene, make: Make) -> None:
    other = make_project(make, scene.owner)
    runner = project_runner(make, other.id, description="Shared machine")
    browser, address = scene.browser(), f"{scene.path}/-/runners"
    forms = f"{address}/enable"
    answer = browser.submit(address, forms, fields={"runner_id": str(runner.id)})
    assert answer.status_code == 302, answer.text
    assert f"{address}/{runner.id}/edit" in browser.get(address).text
    assert browser.submit(address, f"{address}/{runner.id}/disable").status_code == 302
    assert f"{address}/{runner.id}/edit" not in browser.get(address).text


def test_registration_token_is_shown_and_replaced(scene: CiScene, make: Make) -> None:
    browser, address = scene.browser(), f"{scene.path}/-/runners"
    token = make.api.get(scene.project.url, scene.owner).json()["runners_token"]
    assert token in browser.get(address).text
    assert browser.submit(address, f"{address}/reset_registration_token").status_code == 302
    assert token not in browser.get(address).text
    group = make_group(make, scene.owner)
    address = f"/groups/{group.path}/-/runners"
    token = make.database.read(lambda db: group_registration_token(db, group.id))
    assert token in browser.get(address).text
    assert browser.submit(address, f"{address}/reset_registration_token").status_code == 302
    assert token not in browser.get(address).text
    created = browser.submit(f"{address}/new", address, fields={"runner[run_untagged]": "1"})
    assert "glrt-" in created.text


def test_administrators_see_all_runners(scene: CiScene, make: Make) -> None:
    instance_runner = make_runner(make, description="For all")
    admin = make.user(password="correct horse battery", admin=True)
    browser = scene.browser(admin)
    # Other tests leave runners behind.
    count = make.database.read(lambda db: db.value(select(func.count()).select_from(runners)))
    pages = "".join(browser.get(f"/admin/runners?page={number}").text for number in range(1, count // 20 + 2))
    assert f"/admin/runners/{instance_runner.id}/edit" in pages
    assert f"/admin/runners/{scene.runner.id}/edit" in pages
    assert browser.get(f"/admin/runners/{instance_runner.id}/edit").status_code == 200
    assert browser.get("/admin/runners?status=online").status_code == 200
    assert scene.browser().get("/admin/runners").status_code == 404


def test_own_runners_and_those_of_the_instance_are_apart(scene: CiScene, make: Make) -> None:
    for number in range(3):
        make_runner(make, description=f"For all {number}")
    browser, address = scene.browser(), f"{scene.path}/-/runners"
    page = browser.get(address).text
    own, _, others = page.partition("Runners of the instance")
    assert f"{address}/{scene.runner.id}/edit" in own and "For all 2" in others and "For all" not in own
    assert page.count("Pause runner") == 1
    few = statements_of(make, lambda: browser.get(address))
    for number in range(6):
        make_runner(make, description=f"More {number}")
        project_runner(make, scene.project.id)
    assert statements_of(make, lambda: browser.get(address)) == few


def test_developers_see_no_runner_settings(scene: CiScene, make: Make) -> None:
    developer = make.user(password="correct horse battery")
    make.api.post(f"{scene.project.url}/members", scene.owner, user_id=developer.id, access_level=30)
    browser = scene.browser(developer)
    for path in ("", "/new", f"/{scene.runner.id}/edit"):
        assert browser.get(f"{scene.path}/-/runners{path}").status_code == 404, path
