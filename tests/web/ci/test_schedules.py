"""Pages of schedules, environments and the lint."""

from tests.ci.pipelines.files import list_pipelines
from tests.client import Make
from tests.web.ci.scene import INPUTS_FILE, CiScene


def test_schedule_is_created_edited_played_and_deleted(scene: CiScene, make: Make) -> None:
    scene.commit("job: {script: [x]}")
    browser, address = scene.browser(), f"{scene.path}/-/pipeline_schedules"
    fields = {
        "schedule[description]": "Nightly",
        "schedule[active]": "1",
        "variables[1][key]": "DEPTH",
        "variables[1][value]": "full",
    }
    answer = browser.submit(f"{address}/new", address, fields=fields)
    assert answer.status_code == 302, answer.text
    page = browser.get(address).text
    for text in ("Nightly", "0 4 * * *", "Next run", "Not run yet"):
        assert text in page, text
    (schedule,) = make.api.get(f"{scene.project.url}/pipeline_schedules", scene.owner).json()
    one = f"{address}/{schedule['id']}"
    assert 'value="DEPTH"' in browser.get(f"{one}/edit").text
    changed = {**fields, "schedule[cron]": "0 5 * * *", "variables[1][key]": "OTHER"}
    assert browser.submit(f"{one}/edit", one, does="put", fields=changed).status_code == 302
    details = make.api.get(f"{scene.project.url}/pipeline_schedules/{schedule['id']}", scene.owner).json()
    assert details["cron"] == "0 5 * * *"
    assert [variable["key"] for variable in details["variables"]] == ["OTHER"]
    rejected = browser.submit(f"{one}/edit", one, does="put", fields={**fields, "schedule[cron]": "never"})
    assert rejected.status_code == 422
    assert 'value="never"' in rejected.text
    assert browser.submit(address, f"{one}/play").status_code == 302
    assert list_pipelines(make, scene.project)[0]["source"] == "schedule"
    assert browser.submit(address, one, does="delete").status_code == 302
    assert "No schedules yet" in browser.get(address).text


def test_maintainer_takes_ownership_of_a_schedule(scene: CiScene, make: Make) -> None:
    scene.commit("job: {script: [x]}")
    sent = {"description": "Weekly", "ref": "main", "cron": "0 4 * * 0"}
    schedule = make.api.post(f"{scene.project.url}/pipeline_schedules", scene.owner, **sent).json()
    maintainer = make.user(password="correct horse battery")
    make.api.post(f"{scene.project.url}/members", scene.owner, user_id=maintainer.id, access_level=40)
    address = f"{scene.path}/-/pipeline_schedules"
    one, browser = f"{address}/{schedule['id']}", scene.browser(maintainer)
    assert f"{one}/edit" not in browser.get(address).text
    assert browser.get(f"{one}/edit").status_code == 404
    edit = {"_method": "put", "schedule[cron]": "0 5 * * *"}
    assert browser.submit(address, one, does="delete", fields=edit).status_code == 404
    taken = browser.submit(address, f"{one}/take_ownership")
    assert taken.status_code == 302
    assert browser.get(f"{one}/edit").status_code == 200
    details = make.api.get(f"{scene.project.url}/pipeline_schedules/{schedule['id']}", scene.owner).json()
    assert details["owner"]["id"] == maintainer.id


def test_lint_shows_errors_warnings_and_the_merged_file(scene: CiScene) -> None:
    scene.commit("job: {script: [echo committed]}")
    browser, address = scene.browser(), f"{scene.path}/-/ci/lint"
    assert "echo committed" in browser.get(address).text
    valid = browser.submit(address, address, content=".base: {script: [x]}\njob: {extends: .base}", dry_run="1")
    assert "The configuration is valid." in valid.text
    assert "Merged configuration" in valid.text
    invalid = browser.submit(address, address, content="job: {stage: '<b>nowhere'}")
    assert "The configuration is invalid." in invalid.text
    assert "<b>nowhere" not in invalid.text


def test_environment_shows_deployments_and_is_stopped(scene: CiScene, make: Make) -> None:
    scene.commit("ship: {script: [x], environment: {name: production, url: 'https://shop.example'}}")
    scene.runner.run_all()
    browser, address = scene.browser(), f"{scene.path}/-/environments"
    page = browser.get(address).text
    assert "production" in page
    assert "Passed" in page
    (environment,) = make.api.get(f"{scene.project.url}/environments", scene.owner).json()
    one = f"{address}/{environment['id']}"
    shown = browser.get(one).text
    assert "#1</strong>" in shown
    assert browser.submit(one, f"{one}/stop").status_code == 302
    assert "production" in browser.get(f"{address}?state=stopped").text
    assert browser.submit(one, one, does="delete").status_code == 302
    assert browser.get(one).status_code == 404


def test_schedule_form_asks_for_inputs_of_the_branch(scene: CiScene, make: Make) -> None:
    scene.commit("job: {script: [x]}")
    scene.commit(INPUTS_FILE, branch="topic", start_branch="main", action="update")
    browser, address = scene.browser(), f"{scene.path}/-/pipeline_schedules"
    assert "inputs[1]" not in browser.get(f"{address}/new").text
    fields = {"schedule[description]": "Nightly", "schedule[active]": "1", "schedule[ref]": "topic"}
    shown = browser.submit(f"{address}/new", address, fields={**fields, "show_inputs": "1"})
    assert shown.status_code == 200 and 'value="Nightly"' in shown.text
    assert "<option selected>staging</option><option>production</option>" in shown.text
    typed = {
        **fields,
        "inputs[1][name]": "target",
        "inputs[1][value]": "production",
        "inputs[2][name]": "count",
        "inputs[2][value]": "7",
        "inputs[3][name]": "dry",
        "inputs[3][value]": "true",
    }
    assert browser.submit(f"{address}/new", address, fields=typed).status_code == 302
    (listed,) = make.api.get(f"{scene.project.url}/pipeline_schedules", scene.owner).json()
    url, one = f"{scene.project.url}/pipeline_schedules/{listed['id']}", f"{address}/{listed['id']}"
    stored = make.api.get(url, scene.owner).json()["inputs"]
    assert stored == [{"name": "target", "value": "production"}, {"name": "count", "value": 7}]
    page = browser.get(f"{one}/edit").text
    assert "<option selected>production</option>" in page and 'value="7"' in page
    changed = {**typed, "inputs[2][value]": ""}
    assert browser.submit(f"{one}/edit", one, does="put", fields=changed).status_code == 302
    assert make.api.get(url, scene.owner).json()["inputs"] == [{"name": "target", "value": "production"}]
