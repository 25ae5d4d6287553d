"""Pages of pipelines: list, graph, jobs, failures, tests, and the form for a new one."""

import gzip

import pytest

from ingot.core.access.levels import Level
from tests.ci.pipelines.files import commit_files
from tests.ci.runner_client import RunnerJob
from tests.client import Make
from tests.conftest import Instance
from tests.factories import statements_of
from tests.web.browser import forms_of
from tests.web.ci.scene import INPUTS_FILE, CiScene

JUNIT = (
    b'<testsuite name="s"><testcase name="adds" time="0.5"/>'
    b'<testcase name="divides"><failure>1/0</failure></testcase></testsuite>'
)


def test_list_shows_status_ref_commit_author_and_stages(scene: CiScene) -> None:
    number = scene.commit()
    scene.runner.run_all()
    browser = scene.browser()
    page = browser.get(f"{scene.path}/-/pipelines").text
    assert f'href="{scene.path}/-/pipelines/{number}"' in page
    for text in ("Passed", "Change files", ">main<", 'title="build: passed"', 'title="deploy: skipped"'):
        assert text in page, text
    assert "Pipelines</a>" in page
    assert f"/-/pipelines/{number}" in browser.get(f"{scene.path}/-/pipelines?status=success&ref=main").text
    assert "No pipelines found" in browser.get(f"{scene.path}/-/pipelines?status=failed").text
    assert "hx-trigger" not in browser.get(f"{scene.path}/-/pipelines").text.partition('id="pipelines"')[2][:200]


def test_pipeline_shows_stages_needs_and_actions(scene: CiScene) -> None:
    number = scene.commit()
    address = f"{scene.path}/-/pipelines/{number}"
    browser = scene.browser()
    page = browser.get(address)
    assert page.status_code == 200
    for text in ("compile", "needs compile", 'data-live-poll="5"', "Cancel lint"):
        assert text in page.text, text
    positions = [page.text.index(f'id="stage-{index}"') for index in (1, 2, 3)]
    assert positions == sorted(positions)

    def execute(job: RunnerJob) -> None:
        job.trace(f"ran {job.name}\n".encode())
        job.finish("failed" if job.name in ("unit", "lint") else "success")

    scene.runner.run_all(execute)
    page = browser.get(address)
    assert "Failed, allowed to fail" in page.text
    assert "Failed jobs" in page.text
    failures = browser.get(f"{address}/failures").text
    assert "ran unit" in failures
    assert "ran compile" not in failures
    assert f"/-/jobs/{scene.job_ids(number)['lint']}" in browser.get(f"{address}/builds").text
    assert browser.submit(address, f"{address}/retry").status_code == 302
    assert "Pending" in browser.get(address).text
    assert browser.submit(address, f"{address}/cancel").status_code == 302
    assert "Canceled" in browser.get(address).text
    assert browser.submit(address, address, does="delete").status_code == 302
    assert browser.get(address).status_code == 404


def test_manual_job_starts_from_the_pipeline(scene: CiScene) -> None:
    number = scene.commit("ship: {script: [x], when: manual, allow_failure: false}")
    address = f"{scene.path}/-/pipelines/{number}"
    job = scene.job_ids(number)["ship"]
    answer = scene.browser().submit(address, f"{scene.path}/-/jobs/{job}/play")
    assert answer.headers["location"] == address
    assert scene.runner.run_all() == ["ship"]


def test_tests_tab_shows_the_report(scene: CiScene) -> None:
    number = scene.commit("unit: {script: [x], artifacts: {reports: {junit: r.xml}}}")
    job = scene.runner.must_take()
    sent = scene.make.api.request(
        "POST",
        f"/jobs/{job.id}/artifacts",
        params={"artifact_type": "junit", "artifact_format": "gzip"},
        files={"file": ("junit.xml.gz", gzip.compress(JUNIT), "application/octet-stream")},
        headers={"JOB-TOKEN": job.token},
    )
    assert sent.status_code == 201, sent.text
    job.finish("success")
    address = f"{scene.path}/-/pipelines/{number}/test_report"
    browser = scene.browser()
    assert '<a href="?suite=unit">unit</a>' in browser.get(address).text
    page = browser.get(f"{address}?suite=unit").text
    assert "divides" in page
    assert "1/0" in page


def test_invalid_configuration_is_shown(scene: CiScene) -> None:
    number = scene.commit("job: {stage: nowhere, script: [x]}")
    page = scene.browser().get(f"{scene.path}/-/pipelines/{number}").text
    assert "The configuration is invalid" in page
    assert "nowhere" in page


def test_form_runs_a_pipeline_with_variables(scene: CiScene) -> None:
    scene.commit("job: {script: [x]}")
    scene.runner.run_all()
    browser, address = scene.browser(), f"{scene.path}/-/pipelines"
    fields = {"ref": "main", "variables[1][key]": "COLOR", "variables[1][value]": "blue"}
    answer = browser.submit(f"{address}/new", address, fields=fields)
    assert answer.status_code == 302, answer.text
    assert scene.runner.must_take().variables["COLOR"] == "blue"
    assert "COLOR" in browser.get(answer.headers["location"]).text
    rejected = browser.submit(f"{address}/new", address, fields={**fields, "ref": "missing"})
    assert rejected.status_code == 422
    assert 'value="blue"' in rejected.text


def test_form_asks_for_described_variables(scene: CiScene) -> None:
    scene.commit("""
variables:
  TARGET: {value: staging, options: [staging, production], description: Where to deploy}
  NOTE: {value: "<none>", description: Shown in the log}
  PLAIN: x
job: {script: [x]}
""")
    scene.runner.run_all()
    browser, address = scene.browser(), f"{scene.path}/-/pipelines"
    page = browser.get(f"{address}/new").text
    assert "<option selected>staging</option><option>production</option>" in page
    assert "Where to deploy" in page and 'value="&lt;none&gt;"' in page
    assert 'value="PLAIN"' not in page
    fields = {"ref": "main", "variables[1][key]": "TARGET", "variables[1][value]": "production"}
    assert browser.submit(f"{address}/new", address, fields=fields).status_code == 302
    assert scene.runner.must_take().variables["TARGET"] == "production"
    assert 'value="TARGET"' not in browser.get(f"{address}/new?ref=missing").text


def test_form_asks_for_inputs_of_the_configuration(scene: CiScene) -> None:
    scene.commit(INPUTS_FILE)
    browser, address = scene.browser(), f"{scene.path}/-/pipelines"
    page = browser.get(f"{address}/new").text
    assert "<option selected>staging</option><option>production</option>" in page
    assert "Where to &lt;deploy&gt;" in page and "<option selected>true</option><option>false</option>" in page
    assert 'value="[&#34;a&#34;, &#34;b&#34;]"' in page
    names = {
        f"inputs[{number}][name]": name for number, name in enumerate(("target", "count", "dry", "names", "note"), 1)
    }
    values = ("production", "", "false", '["c"]', "")
    fields = {"ref": "main", **names, **{f"inputs[{number}][value]": value for number, value in enumerate(values, 1)}}
    rejected = browser.submit(f"{address}/new", address, fields=fields)
    assert rejected.status_code == 422
    assert "`count` input: required value has not been provided" in rejected.text
    assert "<option selected>production</option>" in rejected.text
    rejected = browser.submit(f"{address}/new", address, fields={**fields, "inputs[2][value]": "many"})
    assert rejected.status_code == 422 and "value is not a number" in rejected.text
    rejected = browser.submit(f"{address}/new", address, fields={**fields, "inputs[5][value]": "UPPER"})
    assert rejected.status_code == 422 and "does not match required RegEx pattern" in rejected.text
    scene.runner.run_all()
    made = browser.submit(f"{address}/new", address, fields={**fields, "inputs[2][value]": "2"})
    assert made.status_code == 302, made.text
    assert scene.runner.must_take().payload["steps"][0]["script"] == ['echo production 2 false ["c"] ']
    scene.commit("job: {script: [x]}", branch="plain", start_branch="main", action="update")
    shown = browser.submit(f"{address}/new", address, fields={**fields, "ref": "plain", "show_inputs": "1"})
    assert shown.status_code == 200 and 'value="plain"' in shown.text and "inputs[1]" not in shown.text


@pytest.mark.parametrize("tail", ["", "/builds", "/failures", "/test_report"])
def test_reporters_see_pipelines_without_actions(scene: CiScene, make: Make, tail: str) -> None:
    number = scene.commit()
    reporter = make.user(password="correct horse battery")
    make.api.post(f"{scene.project.url}/members", scene.owner, user_id=reporter.id, access_level=20)
    browser = scene.browser(reporter)
    page = browser.get(f"{scene.path}/-/pipelines/{number}{tail}")
    assert page.status_code == 200
    assert [form.action for form in forms_of(page) if scene.path in form.action and form.method == "post"] == []
    assert browser.get(f"{scene.path}/-/pipelines/new").status_code == 404


def test_list_takes_a_fixed_number_of_statements(scene: CiScene, make: Make) -> None:
    browser, address = scene.browser(), f"{scene.path}/-/pipelines"
    scene.commit("job: {script: [x]}")
    few = statements_of(make, lambda: browser.get(address))
    for _ in range(4):
        made = make.api.post(f"{scene.project.url}/pipeline", scene.owner, ref="main")
        assert made.status_code == 201
    assert statements_of(make, lambda: browser.get(address)) <= few


def test_pipeline_links_to_its_child_and_back(scene: CiScene, make: Make, instance: Instance) -> None:
    commit_files(make, scene.project, {"child.yml": "child: {script: [x]}"}, user=scene.owner)
    number = scene.commit("start: {trigger: {include: child.yml}}\nbroken: {trigger: {include: missing.yml}}")
    instance.work()
    browser = scene.browser()
    page = browser.get(f"{scene.path}/-/pipelines/{number}").text
    bridges = make.api.get(f"{scene.project.url}/pipelines/{number}/bridges", scene.owner).json()
    bridge, child = next((each["id"], each["downstream_pipeline"]["id"]) for each in bridges if each["name"] == "start")
    assert f'href="{scene.path}/-/pipelines/{child}"' in page and f"Child pipeline #{child}" in page
    assert "Local file `missing.yml` does not exist!" in page
    page = browser.get(f"{scene.path}/-/pipelines/{child}").text
    assert f'<a href="{scene.path}/-/pipelines/{number}">pipeline #{number}</a>' in page
    shown = browser.get(f"{scene.path}/-/jobs/{bridge}")
    assert (shown.status_code, shown.headers["location"]) == (302, f"{scene.path}/-/pipelines/{number}")


def test_buttons_are_hidden_on_protected_branches(scene: CiScene, make: Make) -> None:
    number = scene.commit("work: {script: [x]}\nship: {script: [x], when: manual}")
    developer = make.user(password="correct horse battery")
    project = scene.project
    make.api.post(f"{project.url}/members", make.root, user_id=developer.id, access_level=int(Level.DEVELOPER))
    assert make.api.post(f"{project.url}/protected_branches", make.root, name="main").status_code in (201, 409)
    browser = scene.browser(developer)
    for address in (f"{scene.path}/-/pipelines/{number}", f"{scene.path}/-/jobs/{scene.job_ids(number)['work']}"):
        page = browser.get(address)
        assert page.status_code == 200
        actions = [form.action.rpartition("/")[2] for form in forms_of(page)]
        assert not {"cancel", "play", "retry"}.intersection(actions)


def test_pipeline_shows_the_warnings_of_its_configuration(scene: CiScene) -> None:
    number = scene.commit("""
one: {script: [x], hooks: {pre_get_sources_script: [y]}}
two: {script: [x], artifacts: {reports: {sast: a.json}}}
""")
    page = scene.browser().get(f"{scene.path}/-/pipelines/{number}").text
    assert "jobs:one uses keywords that are not supported and have no effect: hooks" in page
    assert "jobs:two:artifacts:reports are not supported and not stored: sast" in page
    plain = scene.commit("one: {script: [x]}", action="update")
    assert "ci-warnings" not in scene.browser().get(f"{scene.path}/-/pipelines/{plain}").text


def test_environments_show_the_deployment_that_runs(scene: CiScene) -> None:
    scene.commit("deploy: {script: [x], environment: production}\nother: {script: [x], environment: staging}")
    browser, address = scene.browser(), f"{scene.path}/-/environments"
    assert browser.get(address).text.count("No deployments yet") == 2
    job = scene.runner.must_take()
    page = browser.get(address).text
    assert (page.count("No deployments yet"), "Running" in page, '">#1 ' in page) == (1, True, True)
    job.finish("failed")
    assert "Failed" in browser.get(address).text
    assert scene.make.api.post(f"{scene.project.url}/jobs/{job.id}/retry", scene.owner).status_code == 201
    scene.runner.run_all()
    page = browser.get(address).text
    assert ("Failed" in page, page.count("Passed") + page.count("Success")) == (False, 2)
