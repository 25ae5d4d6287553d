"""The data of ``compare_data``, written by the API of Gitea and Forgejo."""

from base64 import b64encode
from itertools import count
from typing import Any, NamedTuple

import httpx

from bench.compare_data import CODE, ISSUE_TEXT, LABELS, DataSize, push_history
from bench.peer.server import OWNER, PeerServer

REPOSITORY = "tides"
_numbers = count(1)


class FilledPeer(NamedTuple):
    """Numbers in a filled server that the calls use."""

    issue: int
    pull: int
    commit: str


def fill_peer(peer: PeerServer, size: DataSize) -> FilledPeer:
    """Fill a new server with the same numbers of the same texts as ``fill_compared``."""
    base = f"http://127.0.0.1:{peer.running.port}/api/v1"
    headers = {"Authorization": f"token {peer.token}"}
    with httpx.Client(base_url=base, headers=headers, timeout=120) as client:
        for number in range(size.projects - 1):
            _post(client, "/user/repos", name=f"station-{number}", private=True, description=f"Station **{number}**")
        _post(client, "/user/repos", name=REPOSITORY, description="Tells the **tides**.", default_branch="master")
        address = f"http://{OWNER}:{peer.token}@127.0.0.1:{peer.running.port}/{OWNER}/{REPOSITORY}.git"
        push_history(address, size.commits)
        here = f"/repos/{OWNER}/{REPOSITORY}"
        labels = [_post(client, f"{here}/labels", name=name, color="#3366aa")["id"] for name in LABELS]
        # Issues and pull requests share their numbers there.
        issues = _add_issues(client, here, labels, size.issues)
        pulls = _add_pulls(client, here, labels, size.merge_requests)
        commit: str = client.get(f"{here}/commits", params={"limit": 1}).json()[0]["sha"]
        return FilledPeer(issues[len(issues) // 2 - 1], pulls[len(pulls) // 2 - 1], commit)


def _add_issues(client: httpx.Client, here: str, labels: list[int], how_many: int) -> list[int]:
    milestones = [_post(client, f"{here}/milestones", title=f"Spring tide {number}")["id"] for number in range(5)]
    added = []
    for number in range(1, how_many + 1):
        chosen = [labels[(number + step) % len(labels)] for step in range(3)]
        about = {"labels": chosen, "milestone": milestones[number % 5], "assignees": [OWNER]}
        text = ISSUE_TEXT.format(number, max(1, number - 1))
        added.append(_post(client, f"{here}/issues", title=f"Gauge {number} is silent", body=text, **about)["number"])
        if number % 10 == 0:
            _post(client, f"{here}/issues/{added[-1]}/comments", body="It is silent *here* too.")
        if number % 4 == 0:
            client.patch(f"{here}/issues/{added[-1]}", json={"state": "closed"}).raise_for_status()
    for number in range(20):
        body = f"What I **found** there, {number} times."
        _post(client, f"{here}/issues/{added[how_many // 2 - 1]}/comments", body=body)
    return added


def _add_pulls(client: httpx.Client, here: str, labels: list[int], how_many: int) -> list[int]:
    added = []
    for number in range(1, how_many + 1):
        content = b64encode((CODE.format(number) * 10).encode()).decode()
        change = {"branch": "master", "new_branch": f"change-{number}", "message": f"Change {number}"}
        _post(client, f"{here}/contents/new/{number}.py", content=content, **change)
        sent = {"head": f"change-{number}", "base": "master", "labels": [labels[number % 12]], "assignees": [OWNER]}
        text = ISSUE_TEXT.format(number, number)
        added.append(_post(client, f"{here}/pulls", title=f"Read gauge {number} again", body=text, **sent)["number"])
    for number in range(10):
        _post(client, f"{here}/issues/{added[how_many // 2 - 1]}/comments", body=f"Looks *good*, {number}")
    return added


def next_number() -> int:
    """Return a number that no other written object of this run has."""
    return next(_numbers)


def _post(client: httpx.Client, path: str, **sent: Any) -> Any:
    answer = client.post(path, json=sent)
    if answer.is_error:
        raise RuntimeError(f"POST {path}: {answer.status_code} {answer.text[:300]}")
    return answer.json()
