"""Calls of which two versions are compared."""

import json
import time
from collections.abc import Callable, Iterator
from itertools import count, repeat
from typing import NamedTuple

from bench.compare_data import FilledServer
from bench.load import get, post
from bench.user_data import TOKEN

_numbers = count(int(time.time()))
_GRAPHQL = """query($path: ID!) { project(fullPath: $path) { id name issues(first: 20) { nodes { iid title state
author { username } labels { nodes { title } } } } } }"""


class ComparedCall(NamedTuple):
    """A call: its requests on a filled server, how many a round sends, and its kind."""

    name: str
    kind: str
    requests: Callable[[FilledServer], Iterator[bytes]]
    calls: int = 100


def compared_calls() -> list[ComparedCall]:
    """Return all calls."""
    return [*_reads(), *_pages(), *_writes(), *_others()]


def _read(name: str, path: str, calls: int = 100) -> ComparedCall:
    """Return a read below the project."""
    return ComparedCall(name, "read", lambda filled: repeat(get(_absolute(path, filled), TOKEN)), calls)


def _absolute(path: str, filled: FilledServer) -> str:
    path = path.format(issue=filled.issue, merge_request=filled.merge_request, commit=filled.commit)
    return f"/api/v4{path[1:]}" if path.startswith("~/") else filled.project + path


def _reads() -> list[ComparedCall]:
    return [
        _read("20 issues", "/issues"),
        _read("100 issues", "/issues?per_page=100", 100),
        _read("search of issues", "/issues?search=silent"),
        _read("issues by label and state", "/issues?labels=area-3&state=opened"),
        _read("issues of the caller", "~/issues?scope=all"),
        _read("one issue", "/issues/{issue}"),
        _read("notes of an issue", "/issues/{issue}/notes"),
        _read("discussions of an issue", "/issues/{issue}/discussions"),
        _read("one project", ""),
        _read("20 projects", "~/projects"),
        _read("one user", "~/users/1"),
        _read("current user", "~/user"),
        _read("members", "/members/all"),
        _read("labels", "/labels"),
        _read("milestones", "/milestones"),
        _read("todos", "~/todos"),
        _read("events", "/events"),
        _read("20 commits", "/repository/commits"),
        _read("one commit", "/repository/commits/{commit}"),
        _read("diff of a commit", "/repository/commits/{commit}/diff"),
        _read("20 branches", "/repository/branches"),
        _read("one branch", "/repository/branches/master"),
        _read("tree", "/repository/tree"),
        _read("file", "/repository/files/tides%2Fpart_3.py?ref=master"),
        _read("raw file", "/repository/files/tides%2Fpart_3.py/raw?ref=master"),
        _read("comparison", "/repository/compare?from=master&to=change-3"),
        _read("languages", "/languages"),
        _read("20 merge requests", "/merge_requests"),
        _read("one merge request", "/merge_requests/{merge_request}"),
        _read("diffs of a merge request", "/merge_requests/{merge_request}/changes"),
        _read("commits of a merge request", "/merge_requests/{merge_request}/commits"),
        _read("notes of a merge request", "/merge_requests/{merge_request}/notes"),
        _read("pipelines", "/pipelines"),
        _read("global search", "~/search?scope=issues&search=silent"),
        _read("version", "~/version"),
    ]


def _pages() -> list[ComparedCall]:
    def page(name: str, path: str) -> ComparedCall:
        def requests(filled: FilledServer) -> Iterator[bytes]:
            where = path.format(issue=filled.issue, merge_request=filled.merge_request, commit=filled.commit)
            where = where[1:] if where.startswith("~") else filled.page + where
            return repeat(f"GET {where} HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: {filled.cookie}\r\n\r\n".encode())

        return ComparedCall(f"page: {name}", "page", requests, 100)

    return [
        page("dashboard", "~/"),
        page("project", ""),
        page("file", "/-/blob/master/tides/part_3.py"),
        page("folder", "/-/tree/master/tides"),
        page("commits", "/-/commits/master"),
        page("commit", "/-/commit/{commit}"),
        page("issues", "/-/issues"),
        page("issue", "/-/issues/{issue}"),
        page("merge requests", "/-/merge_requests"),
        page("merge request", "/-/merge_requests/{merge_request}"),
        page("changes", "/-/merge_requests/{merge_request}/diffs"),
        page("members", "/-/project_members"),
    ]


def _writes() -> list[ComparedCall]:
    def write(call: str, path: str, calls: int = 100, method: str = "POST", /, **sent: object) -> ComparedCall:
        def requests(filled: FilledServer) -> Iterator[bytes]:
            for number in _numbers:
                body = json.loads(json.dumps(sent).replace("%d", str(number)))
                yield post(_absolute(path.replace("%d", str(number)), filled), TOKEN, **body).replace(
                    b"POST", method.encode(), 1
                )

        return ComparedCall(call, "write", requests, calls)

    text = "A **long** night.\n\n- [ ] a task\n" * 5
    commit = [{"action": "create", "file_path": "added/%d.txt", "content": "Line %d\n" * 20}]
    return [
        write("create issue", "/issues", title="Written %d", description=text),
        write("edit issue", "/issues/{issue}", 100, "PUT", title="Written %d", description=text),
        write("note", "/issues/{issue}/notes", body="A note, **%d**"),
        write("note of a merge request", "/merge_requests/{merge_request}/notes", body="A note, **%d**"),
        write("label", "/labels", name="written-%d", color="#123456"),
        write("project", "~/projects", 20, name="written-%d"),
        write("file commit", "/repository/commits", 30, branch="master", commit_message="Add %d", actions=commit),
        write(
            "file by the files API",
            "/repository/files/more%2F%d.txt",
            30,
            branch="master",
            commit_message="Add",
            content="A\n",
        ),
        write("branch", "/repository/branches", 30, branch="written-%d", ref="master"),
        write("tag", "/repository/tags", 30, tag_name="written-%d", ref="master"),
        write("commit status", "/statuses/{commit}", 50, state="success", name="job %d"),
        write(
            "snippet", "/snippets", 50, title="Written %d", file_name="a.py", content="print(%d)", visibility="private"
        ),
    ]


def _others() -> list[ComparedCall]:
    def verify(filled: FilledServer) -> Iterator[bytes]:
        return repeat(post("/api/v4/runners/verify", token=filled.runner_token))

    def query(filled: FilledServer) -> Iterator[bytes]:
        body = json.dumps({"query": _GRAPHQL, "variables": {"path": filled.page[1:]}})
        head = f"POST /api/graphql HTTP/1.1\r\nHost: 127.0.0.1\r\nPRIVATE-TOKEN: {TOKEN}\r\n"
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        return repeat((head + body).encode())

    def refs(filled: FilledServer) -> Iterator[bytes]:
        return repeat(get(f"{filled.page}.git/info/refs?service=git-upload-pack"))

    def lfs(filled: FilledServer) -> Iterator[bytes]:
        body = json.dumps({"operation": "download", "objects": [{"oid": "0" * 64, "size": 1}]})
        head = f"POST {filled.page}.git/info/lfs/objects/batch HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        head += f"Content-Type: application/vnd.git-lfs+json\r\nContent-Length: {len(body)}\r\n\r\n"
        return repeat((head + body).encode())

    return [
        ComparedCall("runner verifies itself", "runner", verify),
        ComparedCall("GraphQL: 20 issues", "graphql", query, 100),
        ComparedCall("git: refs", "git", refs, 50),
        ComparedCall("LFS: batch", "git", lfs),
        _read("download of a package", "/packages/generic/notes/1.0/small.txt"),
        _read("packages", "/packages"),
    ]
