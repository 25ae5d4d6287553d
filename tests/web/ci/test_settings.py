"""Settings of a project for pipelines."""

from tests.client import Make
from tests.factories import changed_settings
from tests.web.ci.scene import CiScene


def test_settings_are_shown_and_changed(scene: CiScene, make: Make) -> None:
    address = f"{scene.path}/-/settings/ci_cd"
    browser = scene.browser()
    assert 'value="3600"' in browser.get(address).text
    fields = {
        "ci[build_timeout]": "1200",
        "ci[build_coverage_regex]": r"TOTAL.*\s(\d+)%",
        "ci[build_git_strategy]": "clone",
        "ci[ci_default_git_depth]": "0",
        "ci[keep_latest_artifact]": "1",
        "ci[ci_pipeline_variables_minimum_override_role]": "no_one_allowed",
        "ci[ci_delete_pipelines_in_seconds]": "86400",
    }
    assert browser.submit(address, address, does="put", fields=fields).status_code == 302
    project = make.api.get(scene.project.url, scene.owner).json()
    names = ("build_timeout", "build_git_strategy", "auto_cancel_pending_pipelines", "shared_runners_enabled")
    assert [project[name] for name in names] == [1200, "clone", "disabled", False]
    assert project["ci_forward_deployment_enabled"] is False
    assert project["build_coverage_regex"] == fields["ci[build_coverage_regex]"]
    assert project["ci_pipeline_variables_minimum_override_role"] == "no_one_allowed"
    assert project["ci_delete_pipelines_in_seconds"] == 86_400
    rejected = browser.submit(address, address, does="put", fields={**fields, "ci[build_timeout]": "soon"})
    assert rejected.status_code == 422
    assert 'value="soon"' in rejected.text


def test_text_about_the_runners_of_the_instance(scene: CiScene, make: Make) -> None:
    browser, address = scene.browser(), f"{scene.path}/-/settings/ci_cd"
    assert "Ask the <em>engine room</em>" not in browser.get(address).text
    with changed_settings(make, shared_runners_text="Ask the *engine room* <script>"):
        page = browser.get(address).text
    assert "Ask the <em>engine room</em>" in page
    assert "room</em> <script>" not in page
