"""A pipeline in the browser: the log grows while the job runs, folds and links to lines; the page shows the end."""

from collections.abc import Callable

from tests.browser.conftest import PASSWORD, BrowserWindow
from tests.ci.pipelines.files import commit_files
from tests.ci.runner_client import project_runner
from tests.client import Make
from tests.factories import make_project

_CONFIG = "build: {stage: build, script: [x]}\ncheck: {stage: test, script: [x], when: manual}\n"
_START = b"section_start:1:fetch\r\x1b[0KFetch the sources\nwithin the section\nsection_end:3:fetch\r\x1b[0K\n"


def test_log_of_a_running_job(make: Make, open_window: Callable[..., BrowserWindow]) -> None:
    person = make.user(password=PASSWORD)
    project = make_project(make, person)
    runner = project_runner(make, project.id)
    commit_files(make, project, {".gitlab-ci.yml": _CONFIG}, user=person)
    window = open_window().set_session(person)
    page = window.open(f"/{project.path}/-/pipelines")
    page.locator(".ci-rows .title").first.click()
    page.get_by_role("link", name="build", exact=True).click()
    page.get_by_text("Waiting for a runner").wait_for()

    job = runner.must_take()
    job.trace(_START)
    within = page.get_by_text("within the section")
    within.wait_for()
    page.get_by_role("button", name="Fetch the sources").click()
    within.wait_for(state="hidden")
    job.trace(b"\x1b[32mgreen\x1b[0m <b>line</b>\n10%\r99%")
    page.get_by_text("green <b>line</b>").wait_for()
    page.get_by_text("99%").wait_for()
    assert within.is_hidden()
    assert page.locator("#L1").count() == page.locator("#L4").count() == 1
    job.trace(b"\r100%\nend\n")
    page.get_by_text("100%").wait_for()
    assert page.get_by_text("99%").count() == 0
    job.finish()
    page.get_by_text("Passed after").wait_for()

    page.goto(f"{page.url}#L2")
    within.wait_for()
    page.get_by_role("button", name="Fold all").click()
    within.wait_for(state="hidden")
    assert window.violations() == []
