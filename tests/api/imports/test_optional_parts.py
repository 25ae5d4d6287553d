"""Imports whose optional parts cannot be read: each failure is reported, and the rest arrives."""

from typing import Any

import pytest
from sqlalchemy import update

from ingot.core.jobs.tables import jobs
from tests.api.imports.conftest import ImportingInstance
from tests.api.imports.test_import_other_forges import forge
from tests.transfers.sources import test_gitea, test_github
from tests.transfers.sources.forge_server import ForgeServer

__all__ = ["forge"]
ADVERTISEMENT = {"Content-Type": "application/x-git-upload-pack-advertisement"}
REPOS = {"github": test_github.REPO, "gitea": test_gitea.REPO}


def start(importing: ImportingInstance, kind: str, server: ForgeServer) -> str:
    """Start the import of a repository; return the path of the project."""
    path = importing.make.name(kind)
    named: dict[str, dict[str, Any]] = {
        "github": {"repo_id": 55, "github_hostname": server.url},
        "gitea": {"repository": "team/rocket", "gitea_host_url": server.url},
    }
    sent = {"target_namespace": "root", "new_name": path, "personal_access_token": "x", **named[kind]}
    started = importing.api.post(f"/import/{kind}", importing.root, **sent)
    assert started.status_code == 201, started.text
    return f"root/{path}"


def work(importing: ImportingInstance, times: int) -> None:
    """Run all queued jobs, also those that wait for the source."""
    for _ in range(times):
        importing.work()
        importing.second.app.database.write(lambda db: db.run(update(jobs).values(run_at=db.now)))
    importing.work()


def result(importing: ImportingInstance, path: str) -> tuple[str, list[str]]:
    """Return the status of the last import, and the failures that its user sees."""
    run = importing.api.get("/bulk_imports?sort=desc", importing.root).json()[0]
    entity = importing.entity(run)
    assert entity["destination_full_path"] == path
    text = importing.api.get(f"/bulk_imports/{run['id']}/report?format=text", importing.root).text
    failures = [f"{each['relation']}: {each['exception_message']}" for each in entity["failures"]]
    assert entity["has_failures"] == bool(failures)
    assert all(f"Difference: {failure}" in text for failure in failures)
    return entity["status"], failures


def issue_count(importing: ImportingInstance, path: str) -> int:
    """Return the number of issues that arrived."""
    return len(importing.api.get(f"/projects/{path.replace('/', '%2F')}/issues?scope=all", importing.root).json())


@pytest.mark.parametrize("forge", ["gitea"], indirect=True)
@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ((200, ADVERTISEMENT, b""), "The server sent an empty response"),
        ((404, {}, b""), "There is no repository there"),
        ((403, {}, b""), "The server refused the credentials"),
        ((500, {}, b""), "status 500"),
        ((200, ADVERTISEMENT, b"zzzz no refs"), ""),
        ((200, {"Content-Type": "text/html"}, b"<html>"), "no git repository"),
    ],
)
def test_a_wiki_that_cannot_be_fetched(
    importing: ImportingInstance,
    forge: tuple[str, ForgeServer],
    answer: tuple[int, dict[str, str], bytes],
    reason: str,
) -> None:
    """Gitea enables wikis by default and has no repository for one without pages."""
    kind, server = forge
    server.documents[test_gitea.REPO]["has_wiki"] = True
    server.answers["/team/rocket.wiki.git/info/refs"] = answer
    path = start(importing, kind, server)
    work(importing, 3)
    status, failures = result(importing, path)
    assert status == "finished"
    assert [failure.startswith("wiki: Not imported: ") and reason in failure for failure in failures] == [True]
    assert issue_count(importing, path) == 3


def test_lists_that_cannot_be_read(importing: ImportingInstance, forge: tuple[str, ForgeServer]) -> None:
    kind, server = forge
    repo = REPOS[kind]
    broken: dict[str, tuple[int, dict[str, str], bytes]] = {
        "labels": (500, {}, b""),
        "milestones": (200, {}, b"{]"),
        "releases": (418, {}, b""),
    }
    for name in ("labels", "milestones", "releases", "hooks", "keys", "issues/1/reactions"):
        server.answers[f"{repo}/{name}"] = broken.get(name, (500, {}, b""))
    path = start(importing, kind, server)
    importing.work()
    status, failures = result(importing, path)
    assert status == "finished"
    parts = {failure.partition(":")[0] for failure in failures}
    assert parts >= {"labels", "milestones", "releases", "hooks", "deploy_keys", "issues"}, failures
    assert ("issues", True) in {(each.partition(":")[0], "1 × reactions" in each) for each in failures}
    assert issue_count(importing, path) == 3
    requests = importing.api.get(f"/projects/{path.replace('/', '%2F')}/merge_requests", importing.root).json()
    assert [each["iid"] for each in requests] == [4]


@pytest.mark.parametrize("forge", ["gitea"], indirect=True)
def test_a_part_that_fails_for_long(importing: ImportingInstance, forge: tuple[str, ForgeServer]) -> None:
    """A temporary failure is waited for, then the part is left out; the failure of the whole source is waited for."""
    kind, server = forge
    unavailable = (503, {"Retry-After": "0"}, b"")
    path = start(importing, kind, server)
    server.answers = {test_gitea.REPO: unavailable}
    work(importing, 6)
    assert result(importing, path)[0] == "started"
    server.answers = {f"{test_gitea.REPO}/releases": unavailable}
    work(importing, 8)
    assert result(importing, path) == ("finished", ["releases: Not imported: The source answered with status 503."])
    assert issue_count(importing, path) == 3
