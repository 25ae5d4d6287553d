"""Rate limits of single endpoints, pages and git commands; each is off by default."""

from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import Any

import httpx
import pytest

from ingot.accounts.instance.rate_limits import ROUTE_LIMITS
from ingot.core.module_index import index_lines
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import make_group, make_project
from tests.web.browser import Browser

PASSWORD = "correct horse battery"
Limit = Callable[..., None]
ELSEWHERE = {
    "autocomplete_users_limit",
    "gitlab_shell_operation_limit",
    "projects_api_rate_limit_unauthenticated",
    "raw_blob_request_limit",
    "search_rate_limit_unauthenticated",
}
"""Limits that other tests of this file test: those of pages, of SSH and of anonymous callers."""


def _make_issue(api: Api, project: int, owner: User) -> int:
    created = api.post(f"/projects/{project}/issues", owner, title="An issue")
    assert created.status_code == 201, created.text
    iid: int = created.json()["iid"]
    return iid


def _requests(project: int, group: int, user: int, issue: int) -> dict[str, tuple[str, str, dict[str, Any]]]:
    of_user, of_group, of_project = f"/users/{user}", f"/groups/{group}", f"/projects/{project}"
    return {
        "search_rate_limit": ("GET", "/search", {"scope": "projects", "search": "x"}),
        "notes_create_limit": ("POST", f"{of_project}/issues/{issue}/notes", {"body": "Hello"}),
        "issues_create_limit": ("POST", f"{of_project}/issues", {"title": "New"}),
        "projects_api_limit": ("GET", "/projects", {"simple": "true"}),
        "project_api_limit": ("GET", of_project, {}),
        "project_invited_groups_api_limit": ("GET", f"{of_project}/invited_groups", {}),
        "project_jobs_api_rate_limit": ("GET", f"{of_project}/jobs", {}),
        "user_projects_api_limit": ("GET", f"{of_user}/projects", {}),
        "user_contributed_projects_api_limit": ("GET", f"{of_user}/contributed_projects", {}),
        "user_starred_projects_api_limit": ("GET", f"{of_user}/starred_projects", {}),
        "groups_api_limit": ("GET", "/groups", {}),
        "group_api_limit": ("GET", of_group, {}),
        "group_projects_api_limit": ("GET", f"{of_group}/projects", {}),
        "group_shared_groups_api_limit": ("GET", f"{of_group}/groups/shared", {}),
        "group_invited_groups_api_limit": ("GET", f"{of_group}/invited_groups", {}),
        "members_delete_limit": ("DELETE", f"{of_project}/members/1", {}),
        "users_api_limit_followers": ("GET", f"{of_user}/followers", {}),
        "users_api_limit_following": ("GET", f"{of_user}/following", {}),
        "users_api_limit_status": ("GET", f"{of_user}/status", {}),
        "users_api_limit_ssh_keys": ("GET", f"{of_user}/keys", {}),
        "users_api_limit_ssh_key": ("GET", f"{of_user}/keys/1", {}),
        "users_api_limit_gpg_keys": ("GET", f"{of_user}/gpg_keys", {}),
        "users_api_limit_gpg_key": ("GET", f"{of_user}/gpg_keys/1", {}),
        "users_get_by_id_limit": ("GET", of_user, {}),
        "project_export_limit": ("POST", f"{of_project}/export", {}),
        "project_download_export_limit": ("GET", f"{of_project}/export/download", {}),
        "project_import_limit": ("POST", "/projects/remote-import", {"path": "x"}),
        "group_export_limit": ("POST", f"{of_group}/export", {}),
        "group_download_export_limit": ("GET", f"{of_group}/export/download", {}),
        "group_import_limit": ("POST", "/groups/import", {"path": "x", "name": "x"}),
    }


def test_each_limit_counts_its_own_requests(api: Api, make: Make, limit_rates: Limit) -> None:
    owner, other = make.user(), make.user()
    project, group = make_project(make, owner, visibility="public").id, make_group(make, owner).id
    requests = _requests(project, group, owner.id, _make_issue(api, project, owner))
    assert requests.keys() == {limit.setting for limit in ROUTE_LIMITS} - ELSEWHERE

    limit_rates(**dict.fromkeys(requests, 1))

    for setting, (method, path, params) in requests.items():
        sent = {"params": params} if method == "GET" else {"json": params}
        answers = [api.request(method, path, owner, **sent) for _ in range(2)]
        assert [answer.status_code == 429 for answer in answers] == [False, True], setting
        if answers[0].is_success:
            assert answers[0].headers["ratelimit-remaining"] == "0", setting
        seconds = 600 if setting in ("projects_api_limit", "users_get_by_id_limit") else 60
        assert seconds - 60 < int(answers[1].headers["retry-after"]) <= seconds, setting
    assert api.get("/groups", other).status_code == 200, "Each user has a separate limit."
    assert "ratelimit-limit" not in api.get("/user", owner).headers, "Other requests are not counted."


@pytest.mark.parametrize("limit", ROUTE_LIMITS, ids=lambda limit: limit.setting)
def test_each_limit_names_routes_that_exist(limit: Any) -> None:
    routes = {f"{method} {path}" for method, path, *_ in index_lines("route")} | {"ssh"}
    routes |= {f"page {method} {path}" for method, path, *_ in index_lines("page")}

    for pattern in limit.routes:
        assert any(fnmatchcase(route, pattern) for route in routes), pattern


def test_anonymous_callers_have_limits_of_their_own(api: Api, make: Make, limit_rates: Limit) -> None:
    limit_rates(projects_api_rate_limit_unauthenticated=1, search_rate_limit_unauthenticated=1)
    user = make.user()

    assert [api.get("/projects").status_code for _ in range(2)] == [200, 429]
    assert [api.get("/projects", user).status_code for _ in range(2)] == [200, 200]
    assert [api.get("/search", scope="projects", search="x").status_code for _ in range(2)] == [401, 429]


def test_users_of_an_allow_list_and_administrators_are_exempt(api: Api, make: Make, limit_rates: Limit) -> None:
    listed, other = make.user(), make.user()
    limit_rates(users_get_by_id_limit=1, users_get_by_id_limit_allowlist=[listed.username.upper()])

    for caller, status in ((listed, 200), (make.root, 200), (other, 429)):
        statuses = [api.get(f"/users/{other.id}", caller).status_code for _ in range(2)]
        assert statuses == [200, status], caller.username


def test_users_of_the_allow_list_of_searches_are_exempt(api: Api, make: Make, limit_rates: Limit) -> None:
    listed, other = make.user(), make.user()
    limit_rates(search_rate_limit=1, search_rate_limit_allowlist=[listed.username])

    for caller, status in ((listed, 200), (other, 429)):
        statuses = [api.get("/search", caller, scope="projects", search="x").status_code for _ in range(2)]
        assert statuses == [200, status], caller.username


def test_users_of_the_allow_list_of_comments_are_exempt(api: Api, make: Make, limit_rates: Limit) -> None:
    listed, other = make.user(), make.user()
    project = make_project(make, visibility="public")
    path = f"{project.url}/issues/{_make_issue(api, project.id, make.root)}/notes"
    limit_rates(notes_create_limit=1, notes_create_limit_allowlist=[listed.username])

    for caller, status in ((listed, 201), (other, 429)):
        assert [api.post(path, caller, body="Hello").status_code for _ in range(2)] == [201, status]


def test_limits_per_project_count_each_project(api: Api, make: Make, limit_rates: Limit) -> None:
    owner = make.user()
    projects = [make_project(make, owner).id for _ in range(2)]
    limit_rates(members_delete_limit=1)

    for project in projects:
        statuses = [api.delete(f"/projects/{project}/members/{owner.id}", owner).status_code for _ in range(2)]
        assert statuses[0] != 429
        assert statuses[1] == 429


def test_pages_and_graphql_count_for_the_limits_of_changes(
    api: Api, make: Make, instance: Instance, limit_rates: Limit
) -> None:
    owner = make.user(password=PASSWORD)
    project = make_project(make, owner)
    issue = _make_issue(api, project.id, owner)
    limit_rates(notes_create_limit=1)
    note = {"note[body]": "By a form"}

    with Browser(instance.url) as browser:
        browser.signed_in_as(owner)
        page = f"/{project.path}/-/issues/{issue}"
        first, second = (browser.submit(page, f"{page}/notes", **note) for _ in range(2))

    assert first.headers["location"].startswith(page)
    assert second.status_code == 429
    assert "Too many requests" in second.text
    subject = f"gid://gitlab/Issue/{api.get(f'{project.url}/issues/{issue}', owner).json()['id']}"
    query = f'mutation {{ createNote(input: {{noteableId: "{subject}", body: "x"}}) {{ errors }} }}'
    by_graphql = httpx.post(
        f"{instance.url}/api/graphql", json={"query": query}, headers={"PRIVATE-TOKEN": owner.token}
    )
    assert "requested too many times" in by_graphql.text
    assert api.post(f"/projects/{project.id}/issues/{issue}/notes", owner, body="By the API").status_code == 429
    assert len(api.get(f"/projects/{project.id}/issues/{issue}/notes", owner).json()) == 1


def test_raw_files_are_counted_for_all_callers_together(
    api: Api, make: Make, instance: Instance, limit_rates: Limit
) -> None:
    owner = make.user()
    project = make_project(make, owner, visibility="public", initialize_with_readme=True)
    for name in ("a.txt", "b.txt"):
        url = f"/projects/{project.id}/repository/files/{name}"
        created = api.post(url, owner, branch="master", content=name, commit_message="Add a file")
        assert created.status_code == 201, created.text
    limit_rates(raw_blob_request_limit=1)

    urls = [f"{instance.url}/{project.path}/-/raw/master/{name}" for name in ("a.txt", "a.txt", "b.txt")]
    assert [httpx.get(url).status_code for url in urls] == [200, 429, 200]


def test_suggestions_of_users(make: Make, instance: Instance, limit_rates: Limit) -> None:
    limit_rates(autocomplete_users_limit=1)

    with Browser(instance.url) as browser:
        browser.signed_in_as(make.user(password=PASSWORD))
        url = "/-/people?member%5Busername%5D=root"
        assert [browser.get(url).status_code for _ in range(2)] == [200, 429]
