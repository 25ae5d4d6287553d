"""Pagination: headers and links, page sizes, keyset pagination, and constant statement counts."""

import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from ingot.server.registry import all_endpoints
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.ssh_public_keys import ed25519_line
from tests.statements import cold_reads, executed


def _links(answer: httpx.Response) -> dict[str, str]:
    return {rel: url for url, rel in re.findall(r'<([^>]*)>; rel="(\w+)"', answer.headers.get("link", ""))}


@pytest.fixture(scope="module")
def owner(api: Api, make: Make) -> Iterator[User]:
    """Yield a user with five of every listed object."""
    user = make.user(provider="github", extern_uid=make.name("uid"))
    for number in range(5):
        api.post("/user/emails", user, email=f"{make.name()}@example.org")
        assert api.post("/user/keys", user, title=f"Key {number}", key=ed25519_line()).status_code == 201
        api.post(f"/users/{user.id}/impersonation_tokens", make.root, name="x", scopes=["api"])
        make.token(user.id)
        other = make.user(provider="github", extern_uid=make.name("uid"))
        api.post(f"/users/{user.id}/follow", other)
        api.post(f"/users/{other.id}/follow", user)
        application = {"name": "Paged", "redirect_uri": "https://app.example.org", "scopes": "api"}
        assert api.post("/applications", make.root, **application).status_code == 201
    messages = [api.post("/broadcast_messages", make.root, message="Paged").json()["id"] for _ in range(2)]
    yield user
    for message_id in messages:
        api.delete(f"/broadcast_messages/{message_id}", make.root)


@pytest.mark.parametrize(
    ("page", "prev", "following"), [(1, None, 2), (2, 1, 3), (3, 2, None), (4, 3, None), (10**18, 10**18 - 1, None)]
)
def test_headers_and_links_describe_the_page(
    api: Api, make: Make, owner: User, page: int, prev: int | None, following: int | None
) -> None:
    answer = api.get("/user/emails", owner, page=page, per_page=2)

    assert answer.status_code == 200
    assert len(answer.json()) == {1: 2, 2: 2, 3: 1}.get(page, 0)
    heads = answer.headers
    assert (heads["x-total"], heads["x-total-pages"], heads["x-per-page"]) == ("5", "3", "2")
    assert (heads["x-page"], heads["x-prev-page"], heads["x-next-page"]) == (
        str(page),
        str(prev or ""),
        str(following or ""),
    )
    expected = {"prev": prev, "next": following, "first": 1, "last": 3}
    assert {rel: httpx.URL(url).params["page"] for rel, url in _links(answer).items()} == {
        rel: str(number) for rel, number in expected.items() if number
    }


def test_following_next_returns_everything_once(api: Api, owner: User) -> None:
    whole = [each["id"] for each in api.get("/user/emails", owner, per_page=100).json()]
    walked: list[int] = []
    path: str | None = "/user/emails?per_page=2"
    while path:
        answer = api.request("GET", path, owner)
        walked += [each["id"] for each in answer.json()]
        path = _links(answer).get("next", "").partition("/api/v4")[2] or None

    assert walked == whole
    assert len(walked) == 5


def test_links_keep_other_parameters_and_the_callers_origin(api: Api, make: Make, owner: User) -> None:
    """Clients drop links to an origin other than the one they called."""
    sent = [("search", "Ä &=%/+"), ("x[]", "1"), ("x[]", "2"), ("active", ""), ("page", "1"), ("per_page", "1")]
    for host in (httpx.URL(api.url).netloc.decode(), "forge.example:8443"):
        answer = api.request("GET", "/users", make.root, params=sent, headers={"Host": host})
        for url in map(httpx.URL, _links(answer).values()):
            assert (url.scheme, url.netloc.decode(), url.path) == ("http", host, "/api/v4/users")
            kept = [(name, value) for name, value in url.params.multi_items() if name not in ("page", "per_page")]
            assert kept == sent[:4]


@pytest.mark.parametrize("name", ["private_token", "access_token", "job_token", "authenticity_token"])
@pytest.mark.parametrize("more", [{}, {"pagination": "keyset"}])
def test_links_contain_no_secret(api: Api, make: Make, owner: User, name: str, more: dict[str, str]) -> None:
    """Links are stored in caches, notes and referrers."""
    sent = {name: make.root.token, "search": "a", "per_page": 1, **more}
    person = None if name == "private_token" else make.root
    answer = api.request("GET", "/users", person, params=sent)
    assert answer.status_code == 200
    links = [httpx.URL(url) for url in _links(answer).values()]
    assert links
    assert {url.params.get("search") for url in links} == {"a"}
    assert make.root.token not in str(answer.headers)
    assert not any(name in url.params for url in links)


@pytest.mark.parametrize(
    ("sent", "size"),
    [
        ({}, 20),
        *[
            ({"per_page": sent}, size)
            for sent, size in [(1, 1), (100, 100), (101, 100), (10**9, 100), (2**63 - 1, 100)]
        ],
        *[({"per_page": sent}, 20) for sent in (0, -1, "")],
    ],
)
def test_page_sizes_are_clamped(api: Api, make: Make, sent: dict[str, Any], size: int) -> None:
    answer = api.get("/users", make.root, **sent)

    assert (answer.status_code, answer.headers["x-per-page"]) == (200, str(size))
    assert len(answer.json()) <= size


@pytest.mark.parametrize("page", ["0", "-1", "", "-9223372036854775807"])
def test_pages_below_one_are_the_first(api: Api, make: Make, page: str) -> None:
    assert api.get("/users", make.root, page=page).headers["x-page"] == "1"


@pytest.mark.parametrize("value", ["1e18", "1.5", "x", "9" * 30, "1\0", "٣", "NaN"])
@pytest.mark.parametrize("name", ["page", "per_page", "id_after", "id_before"])
def test_invalid_page_numbers_are_rejected(api: Api, make: Make, name: str, value: str) -> None:
    answer = api.get("/users", make.root, **{name: value})

    assert (answer.status_code, answer.json()) == (400, {"message": {name: ["is invalid"]}})


def test_pages_beyond_the_last_are_empty(api: Api, make: Make) -> None:
    for sent in ({"page": 2**63 - 1, "per_page": 100}, {"pagination": "keyset", "sort": "asc", "id_after": 2**63 - 1}):
        answer = api.get("/users", make.root, **sent)
        assert (answer.status_code, answer.json()) == (200, [])


@pytest.mark.parametrize("sort", ["asc", "desc"])
@pytest.mark.parametrize("path", ["/users", "/users/{id}/followers", "/user/keys", "/namespaces"])
def test_keyset_pagination_returns_everything_once_and_in_order(
    api: Api, make: Make, owner: User, path: str, sort: str
) -> None:
    path = path.format(id=owner.id)
    caller = owner if path == "/user/keys" else make.root
    walked: list[int] = []
    following: str | None = f"{path}?pagination=keyset&order_by=id&sort={sort}&per_page=2&search="
    while following:
        answer = api.request("GET", following, caller)
        assert answer.status_code == 200, answer.text
        assert "x-total" not in answer.headers
        assert set(_links(answer)) <= {"next"}
        walked += [each["id"] for each in answer.json()]
        following = _links(answer).get("next", "").partition("/api/v4")[2] or None

    assert len(walked) == int(api.request("HEAD", path, caller).headers["x-total"])
    assert walked == sorted(set(walked), reverse=sort == "desc")


def test_keyset_pagination_is_stable_under_inserts(api: Api, make: Make) -> None:
    """With page numbers, a new row shifts all later pages; with keys it does not."""
    user = make.user()
    before = [api.post("/user/emails", user, email=f"{make.name()}@example.org").json()["id"] for _ in range(4)]
    first = api.get("/user/emails", user, pagination="keyset", per_page=2, sort="desc")
    api.post("/user/emails", user, email=f"{make.name()}@example.org")
    second = api.request("GET", _links(first)["next"].partition("/api/v4")[2], user)

    assert [each["id"] for each in first.json() + second.json()] == before[::-1]


def test_head_returns_the_total(api: Api, owner: User) -> None:
    head = api.request("HEAD", "/user/emails", owner)

    assert (head.status_code, head.content, head.headers["x-total"]) == (200, b"", "5")


# These lists need more test data, and are counted in tests of their own.
COUNTED_ELSEWHERE = {"projects", "groups", "variables", "deploy_tokens", "topics", "badges", "environments", "runners"}
COUNTED_ELSEWHERE |= {"imports", "templates", "audit_events"}
COUNTED_ELSEWHERE |= {"deployments", "deploy_keys", "triggers", "custom_attributes", "namespaces"}
COUNTED_ELSEWHERE |= {
    "trees",
    "branches",
    "commits",
    "comparing",
    "tags",
    "protected references",
    "releases",
    "statuses",
    "notes",
}
COUNTED_ELSEWHERE |= {"issues", "labels", "milestones", "boards", "snippets", "todos", "events", "search"}
COUNTED_ELSEWHERE |= {"merge_requests", "merging", "merge trains"}
COUNTED_ELSEWHERE |= {"access_tokens", "repository_storage_moves", "feature_flags", "mirrors", "packages"}
COUNTED_ELSEWHERE |= {"container_registry", "approvals", "group protected branches", "protected environments"}
COUNTED_ELSEWHERE |= {"hooks", "system hooks", "services"}
COUNTED_ELSEWHERE |= {"wikis", "runner_protocol", "jobs", "job_token_scope", "pipeline_schedules", "pipelines"}
COUNTED_ELSEWHERE |= {"pages", "pages_domains", "freeze_periods", "secure_files", "terraform_state", "ci_catalog"}


def _paged() -> Iterator[str]:
    return (
        each.path
        for each in all_endpoints()
        if each.paged and each.tag not in COUNTED_ELSEWHERE and not each.path.endswith("audit_events")
    )


@pytest.mark.parametrize("path", sorted(_paged()))
def test_longer_pages_need_no_more_statements(instance: Instance, api: Api, make: Make, owner: User, path: str) -> None:
    caller = owner if path.startswith("/user/") and path != "/user/activities" else make.root
    path = re.sub(r":\w+", str(owner.id), path)
    database = instance.app.database

    def cost(per_page: int) -> tuple[int, int]:
        """Return the minimum of several calls, because some also read the settings or record the use of a token."""
        costs = []
        for _ in range(4):
            before = executed(database)
            answer = api.get(path, caller, per_page=per_page)
            assert answer.status_code == 200, answer.text
            costs.append(executed(database) - before)
        return min(costs), len(answer.json())

    with cold_reads():
        short, _ = cost(1)
        long, items = cost(100)

    assert (
        items > 1 or path.endswith(("gpg_keys", "activities", "features", "custom_attributes")) or "templates" in path
    )
    assert long <= short
