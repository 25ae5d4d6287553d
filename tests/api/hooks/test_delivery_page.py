"""Page of a webhook: a test event appears in the log without a reload."""

import re
import threading
from http.server import BaseHTTPRequestHandler

import pytest

from tests.api.hooks.conftest import HookedProject
from tests.api.hooks.receiver import DEADLINE_SECONDS
from tests.conftest import ROOT_PASSWORD, Instance
from tests.server.process import until
from tests.web.browser import Browser


@pytest.mark.usefixtures("dispatcher")
def test_the_log_shows_the_test_event_once_it_is_delivered(hooked: HookedProject, instance: Instance) -> None:
    released = threading.Event()

    def answer(handler: BaseHTTPRequestHandler) -> None:
        assert released.wait(DEADLINE_SECONDS)
        handler.send_response(200)
        handler.send_header("Content-Length", "2")
        handler.end_headers()
        handler.wfile.write(b"ok")

    hooked.receiver.answers[hooked.path] = [answer]
    page = f"/{hooked.project.path}/-/hooks/{hooked.hook.rpartition('/')[2]}"
    with Browser(instance.url) as browser:
        assert browser.sign_in("root", ROOT_PASSWORD).status_code == 302
        assert "No events yet" in browser.get(f"{page}/edit").text
        sent = browser.submit(f"{page}/edit", f"{page}/test", trigger="push_events")
        assert sent.headers["location"] == f"{page}/edit"

        waiting = browser.get(f"{page}/edit").text
        assert "Sending" in waiting and "data-live-part" in waiting
        assert "No events yet" not in waiting
        released.set()
        until("the delivery", lambda: "Sending" not in browser.get(f"{page}/edit").text)
        assert re.search(r"</svg> 200</span>", browser.get(f"{page}/edit").text)
