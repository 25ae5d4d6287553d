"""Screenshots in docs/pictures: a new instance with demo data, seen by one of its users."""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
from playwright.sync_api import ViewportSize, sync_playwright

from ingot.server.supervisor import open_socket
from tests.browser.conftest import browser_path

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"
USERNAME = "marlene.okafor"
HERE = "/harbour-works/tidewatch"
PICTURES = {
    "home": ("/", "light"),
    "project": (HERE, "light"),
    "file": (f"{HERE}/-/blob/master/tidewatch/gauge.py", "light"),
    "issue": (f"{HERE}/-/issues/8", "light"),
    "board": (f"{HERE}/-/boards", "light"),
    "merge-request": (f"{HERE}/-/merge_requests/7", "light"),
    "pipelines": (f"{HERE}/-/pipelines", "light"),
    "issue-phone": (f"{HERE}/-/issues/8", "light"),
    "changes-dark": (f"{HERE}/-/merge_requests/7/diffs", "dark"),
}
_DESK: ViewportSize = {"width": 1280, "height": 860}
_PHONE: ViewportSize = {"width": 390, "height": 844}


@contextmanager
def _served() -> Iterator[tuple[str, str]]:
    """Yield the URL of a server, and the password of the demo users."""
    with tempfile.TemporaryDirectory() as folder:
        listener = open_socket("127.0.0.1", 0)
        port = listener.getsockname()[1]
        listener.close()
        command = [sys.executable, "-m", "ingot"]
        options = ["--data", f"{folder}/data"]
        environment = {**os.environ, "INGOT_ROOT_PASSWORD": "correct horse battery"}
        demo = subprocess.run([*command, "demo", *options], check=True, capture_output=True, env=environment, text=True)
        password = re.search(r"with the password (\S+)", demo.stdout)
        assert password is not None, demo.stdout
        serving = [*command, "serve", *options, "--port", str(port), "--ssh-port", "0", "--workers", "1"]
        with subprocess.Popen(serving, env=environment, stdout=subprocess.DEVNULL) as process:
            try:
                _wait(f"http://127.0.0.1:{port}")
                yield f"http://127.0.0.1:{port}", password[1]
            finally:
                process.terminate()


def _wait(url: str) -> None:
    with httpx.Client(transport=httpx.HTTPTransport(retries=50), timeout=60) as client:
        while client.get(f"{url}/-/readiness").status_code != 200:
            pass


def main() -> None:
    """Take all screenshots."""
    FOLDER.mkdir(exist_ok=True)
    with _served() as (url, password), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path(), args=["--no-sandbox"])
        for scheme in ("light", "dark"):
            context = browser.new_context(viewport=_DESK, color_scheme=scheme)
            page = context.new_page()
            page.set_default_timeout(60_000)
            page.goto(f"{url}/users/sign_in")
            page.get_by_label("Username or email").fill(USERNAME)
            page.get_by_label("Password").fill(password)
            page.get_by_role("button", name="Sign in", exact=True).click()
            page.get_by_text(f"@{USERNAME}").first.wait_for()
            for name, (path, wanted) in PICTURES.items():
                if wanted == scheme:
                    page.set_viewport_size(_PHONE if name.endswith("-phone") else _DESK)
                    page.goto(url + path)
                    page.screenshot(path=FOLDER / f"{name}.png")
        browser.close()


if __name__ == "__main__":
    main()
