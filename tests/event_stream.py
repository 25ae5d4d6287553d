"""Client of a server-sent event stream."""

import html
import http.client
import re
from urllib.parse import urlsplit

from tests.web.browser import Browser


class EventStream:
    """Open stream of a page, read line by line."""

    def __init__(self, browser: Browser, path: str) -> None:
        address = urlsplit(browser.url)
        self._connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=30)
        cookies = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
        self._connection.request("GET", path, headers={"Cookie": cookies} if cookies else {})
        self.response = self._connection.getresponse()
        self.status = self.response.status

    def __enter__(self) -> "EventStream":
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def next_event(self) -> str:
        """Wait for the next event and return its name; empty at the end of the stream."""
        while line := self.response.readline():
            if line.startswith(b"event: "):
                return line.removeprefix(b"event: ").decode().strip()
        return ""


def stream_of(browser: Browser, page: str) -> str:
    """Return the path of the stream that a page names."""
    answer = browser.get(page)
    assert answer.status_code == 200, answer.text
    found = re.search(r'data-live="([^"]+)"', answer.text)
    assert found is not None
    return html.unescape(found[1])
