"""Charts of pipelines: duration and success, with the table behind them."""

from tests.ci.runner_client import RunnerJob
from tests.client import Make
from tests.web.ci.scene import CiScene

CONFIG = "build: {script: [make]}\n"


def test_charts_show_finished_pipelines(scene: CiScene, make: Make) -> None:
    browser, address = scene.browser(), f"{scene.path}/-/pipelines/charts"
    assert "No charts yet" in browser.get(address).text
    passed = scene.commit(CONFIG)
    assert "No charts yet" in browser.get(address).text, "A pending pipeline has no duration."
    scene.runner.run_all()
    failed = scene.commit(f"{CONFIG}# again\n", action="update")

    def fail(job: RunnerJob) -> None:
        job.finish("failed")

    scene.runner.run_all(fail)
    shown = browser.get(address).text
    assert "<dd>1 (50 %)</dd>" in shown
    assert shown.count("<rect") == 3, "A bar for each, and a mark below the failed one."
    positions = [shown.index(f'/-/pipelines/{number}">#{number}') for number in (failed, passed)]
    assert positions == sorted(positions), "The table begins with the newest."
    assert shown.index(f"<title>#{passed}:") < shown.index(f"<title>#{failed}:"), "The chart ends with the newest."
    assert "<dd>1 (50 %)</dd>" in browser.get(f"{address}?ref=main").text
    assert "No charts yet" in browser.get(f"{address}?ref=%3Cscript%3E").text
    assert f'href="{address}"' in browser.get(f"{scene.path}/-/pipelines").text
    stranger = make.user(password="correct horse battery")
    assert scene.browser(stranger).get(address).status_code == 404
