"""Calls that two forges have in common, and the requests that make them."""

import json
from base64 import b64encode
from collections.abc import Callable, Iterator
from itertools import repeat
from typing import NamedTuple

from bench.compare_calls import ComparedCall, compared_calls
from bench.compare_data import FilledServer
from bench.peer.data import REPOSITORY, FilledPeer, next_number
from bench.peer.server import OWNER, PeerServer

_HERE = f"/api/v1/repos/{OWNER}/{REPOSITORY}"
_PAGE = f"/{OWNER}/{REPOSITORY}"
# Both return the statistics and files of listed commits only if asked.
_BRIEF = "stat=false&verification=false&files=false"
_READS = {
    "20 issues": f"{_HERE}/issues?type=issues&state=all&limit=20",
    "search of issues": f"{_HERE}/issues?type=issues&state=all&q=silent&limit=20",
    "issues by label and state": f"{_HERE}/issues?type=issues&labels=area-3&state=open&limit=20",
    "one issue": _HERE + "/issues/{issue}",
    "notes of an issue": _HERE + "/issues/{issue}/comments",
    "one project": _HERE,
    "20 projects": "/api/v1/repos/search?limit=20",
    "current user": "/api/v1/user",
    "labels": f"{_HERE}/labels?limit=20",
    "20 commits": f"{_HERE}/commits?limit=20&{_BRIEF}",
    "one commit": _HERE + "/git/commits/{commit}?stat=true&verification=false&files=false",
    "20 branches": f"{_HERE}/branches?limit=20",
    "one branch": f"{_HERE}/branches/master",
    "file": f"{_HERE}/contents/tides/part_3.py?ref=master",
    "raw file": f"{_HERE}/raw/tides/part_3.py?ref=master",
    "20 merge requests": f"{_HERE}/pulls?state=all&limit=20",
    "one merge request": _HERE + "/pulls/{pull}",
}
_PAGES = {
    "page: project": _PAGE,
    "page: file": f"{_PAGE}/src/branch/master/tides/part_3.py",
    "page: commits": f"{_PAGE}/commits/branch/master",
    "page: issues": f"{_PAGE}/issues",
    "page: issue": _PAGE + "/issues/{issue}",
    "page: merge request": _PAGE + "/pulls/{pull}",
}


class CommonCall(NamedTuple):
    """One call, as each of the two servers takes it."""

    own: ComparedCall
    peer: Callable[[PeerServer, FilledPeer], Iterator[bytes]]

    def own_requests(self, filled: FilledServer) -> Iterator[bytes]:
        """Return the requests of this server; pages are read without a session by both."""
        for request in self.own.requests(filled):
            yield request.replace(f"Cookie: {filled.cookie}\r\n".encode(), b"")


def common_calls() -> list[CommonCall]:
    """Return the calls that both have."""
    peers: dict[str, Callable[[PeerServer, FilledPeer], Iterator[bytes]]] = {}
    for name, path in _READS.items():
        peers[name] = _reading(path, signed_in=True)
    for name, path in _PAGES.items():
        peers[name] = _reading(path, signed_in=False)
    peers["create issue"] = _writing(
        f"{_HERE}/issues", lambda number: {"title": f"Written {number}", "body": "A *text*"}
    )
    peers["note"] = _writing(_HERE + "/issues/{issue}/comments", lambda number: {"body": f"A note, **{number}**"})
    peers["file by the files API"] = _writing(
        _HERE + "/contents/more/{number}.txt",
        lambda _: {"branch": "master", "message": "Add", "content": b64encode(b"A\n").decode()},
    )
    own = {call.name: call for call in compared_calls()}
    return [CommonCall(own[name], requests) for name, requests in peers.items()]


def _reading(path: str, *, signed_in: bool) -> Callable[[PeerServer, FilledPeer], Iterator[bytes]]:
    def requests(peer: PeerServer, filled: FilledPeer) -> Iterator[bytes]:
        return repeat(_request("GET", path.format(**filled._asdict()), peer.token if signed_in else ""))

    return requests


def _writing(path: str, sent: Callable[[int], dict[str, str]]) -> Callable[[PeerServer, FilledPeer], Iterator[bytes]]:
    def requests(peer: PeerServer, filled: FilledPeer) -> Iterator[bytes]:
        while True:
            number = next_number()
            where = path.format(**filled._asdict(), number=number)
            yield _request("POST", where, peer.token, json.dumps(sent(number)).encode())

    return requests


def _request(method: str, path: str, token: str, body: bytes = b"") -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1"]
    lines += [f"Authorization: token {token}"] if token else []
    lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"] if body else []
    return "\r\n".join([*lines, "", ""]).encode() + body
