"""Live updates of pipelines and jobs."""

from contextlib import ExitStack

from tests.event_stream import EventStream, stream_of
from tests.web.ci.scene import CiScene


def test_pages_follow_a_running_job(scene: CiScene) -> None:
    pipeline = scene.commit("job: {script: [x]}")
    browser = scene.browser()
    job_page = f"{scene.path}/-/jobs/{scene.job_ids(pipeline)['job']}"
    pages = (f"{scene.path}/-/pipelines", f"{scene.path}/-/pipelines/{pipeline}", job_page)
    with ExitStack() as stack:
        opened = [stack.enter_context(EventStream(browser, stream_of(browser, page))) for page in pages]
        job = scene.runner.must_take()
        assert [stream.next_event() for stream in opened] == ["change"] * 3
        job.trace(b"one\n")
        assert opened[-1].next_event() == "change"
        job.finish("success")
        assert [stream.next_event() for stream in opened] == ["change"] * 3
