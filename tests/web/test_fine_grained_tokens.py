"""The page that creates tokens with fine-grained permissions."""

import re
from typing import Any

from tests.client import Make, User
from tests.factories import make_group, make_project
from tests.web.browser import Browser

ADDRESS = "/profile/personal_access_tokens/fine_grained"


def _submit(browser: Browser, **fields: Any) -> Any:
    named = {f"token[{name}]": value for name, value in fields.items()}
    return browser.submit(ADDRESS, ADDRESS, fields=named)


def test_a_user_creates_a_token(make: Make, browser: Browser, person: User) -> None:
    signed_in = browser.signed_in_as(person)
    project, other = (make_project(make, person) for _ in range(2))
    group = make_group(make, person)
    assert ADDRESS in signed_in.get("/profile/personal_access_tokens").text
    fields = {"name": "fine", "access": "selected_memberships", "mcp_tools": "get_issue, list_issues"}
    permissions = {"permissions][": ["members:read_project", "members:read_group", "user:read_user"]}
    page = _submit(signed_in, **fields, paths=f"{project.path}\n/{group.path}", **permissions)
    assert page.status_code == 200, page.text
    found = re.search(r'id="created-personal-access-token"[^>]*?(?:value="|>)([^"<]+)', page.text)
    assert found, page.text
    holder = person.with_token(found[1])
    statuses = [make.api.get(path, holder).status_code for path in (project.url, f"/groups/{group.id}", "/user")]
    assert statuses == [200, 200, 200]
    assert make.api.get(other.url, holder).status_code == 404
    shown = make.api.get("/personal_access_tokens/self", holder).json()
    assert shown["mcp_tools"] == ["get_issue", "list_issues"] and len(shown["granular_scopes"]) == 3


def test_invalid_forms_show_the_errors(make: Make, browser: Browser, person: User) -> None:
    signed_in = browser.signed_in_as(person)
    hidden = make_project(make)
    permissions = {"permissions][": ["members:read_project"]}
    for fields, error in (
        ({"name": "a", "access": "selected_memberships", "paths": hidden.path, **permissions}, "no project or group"),
        ({"name": "a", "access": "selected_memberships", "paths": "", **permissions}, "selected_memberships only"),
        ({"name": "a", "access": "all_memberships", "paths": ""}, "be blank"),
        ({"name": "", "access": "all_memberships", "paths": "", **permissions}, "be blank"),
        ({"name": "a", "access": "all_memberships", "expires_at": "soon", **permissions}, "YYYY-MM-DD"),
        ({"name": "a", "access": "nonsense", "paths": "", **permissions}, "are invalid"),
        ({"name": "a", "access": "all_memberships", "mcp_tools": "A!", **permissions}, "unknown names: A!"),
    ):
        page = _submit(signed_in, **fields)
        assert page.status_code == 422 and error in page.text, (fields, page.status_code)
