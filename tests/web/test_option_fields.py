"""Forms of options of groups and projects: each effective option is on a page, with its meaning and default."""

from collections.abc import Iterator
from typing import Any

import pytest

from ingot.core.api.declared_fields import fixed_values
from ingot.projects.namespaces.group_options import INTERNAL_OPTIONS, SHOWN_ONLY_OPTIONS, GroupOptions
from ingot.web.groups.settings import FLAGS, RULES
from ingot.web.projects.option_fields import GROUP_LABELS, PROJECT_LABELS, OptionField, group_fields, project_fields
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import make_group, make_project
from tests.web.browser import Browser
from tests.web.conftest import PASSWORD

OTHERS = {
    "default_branch",
    "default_branch_protection_defaults",
    "two_factor_grace_period",
    "shared_runners_setting",
    "enabled_git_access_protocol",
}
"""Options of groups with fields of their own, and the one that ``default_branch_protection`` sets."""
VALUES: dict[str, Any] = {"switch": "1", "number": "7", "text": "Typed text"}


@pytest.fixture
def owner(make: Make) -> User:
    return make.user(password=PASSWORD)


@pytest.fixture
def pages(instance: Instance, owner: User) -> Iterator[Browser]:
    with Browser(instance.url) as browser:
        yield browser.signed_in_as(owner)


def _other_value(field: OptionField, now: Any) -> Any:
    if field.kind == "select":
        return next(choice for choice in field.choices if choice != str(now))
    return ("" if now else "1") if field.kind == "switch" else VALUES[field.kind]


def test_every_effective_option_of_groups_is_on_the_page() -> None:
    effective = set(GroupOptions.__struct_fields__) - fixed_values(GroupOptions).keys()
    effective -= {*INTERNAL_OPTIONS, *SHOWN_ONLY_OPTIONS}
    assert effective == {*GROUP_LABELS, *FLAGS, *RULES, *OTHERS} & effective


@pytest.mark.parametrize("kind", ["group", "project"])
def test_each_option_is_saved_and_recorded(api: Api, make: Make, owner: User, pages: Browser, kind: str) -> None:
    """Only what changes is stored: inherited values stay inherited, and the audit log names the changed ones."""
    made: Any = (make_group if kind == "group" else make_project)(make, owner)
    address = f"/groups/{made.path}/-/edit" if kind == "group" else f"/{made.path}/-/edit"
    fields = (group_fields if kind == "group" else project_fields)(admin=False)
    before = api.get(made.url, owner).json()
    page = pages.get(address).text
    assert all(f'id="options_{field.name}_hint"' in page for field in fields)
    assert "max_artifacts_size" not in page and "repository_storage" not in page

    def save(values: dict[str, Any]) -> int:
        sent = {"authenticity_token": pages.token(), "_method": "put", "part": "options"}
        sent |= {f"options[{name}]": value for name, value in values.items() if value != ""}
        return pages.post(address, data=sent).status_code

    same = {field.name: "1" if before[field.name] is True else before[field.name] or "" for field in fields}
    assert save(same) == 302
    unchanged = api.get(made.url, owner).json()
    assert {field.name: unchanged[field.name] for field in fields} == {
        field.name: before[field.name] for field in fields
    }
    for field in fields:
        value = _other_value(field, before[field.name])
        pages.get(address)
        assert save(same | {field.name: value}) == 302, field.name
        shown = api.get(made.url, owner).json()[field.name]
        expected = bool(value) if field.kind == "switch" else value
        assert str(shown) == str(expected), field.name
        pages.get(address)
        assert save(same) == 302
    details = str(api.get(f"{made.url}/audit_events", owner, per_page=100).json())
    assert all(field.name in details for field in fields if field.name != "default_branch_protection")


@pytest.mark.parametrize("kind", ["group", "project"])
def test_options_for_administrators(api: Api, make: Make, instance: Instance, owner: User, kind: str) -> None:
    made: Any = (make_group if kind == "group" else make_project)(make, owner)
    address = f"/groups/{made.path}/-/edit" if kind == "group" else f"/{made.path}/-/edit"
    before = api.get(made.url, make.root).json()
    same = {name: before[name] for name in (GROUP_LABELS if kind == "group" else PROJECT_LABELS)}
    sent = {f"options[{name}]": "1" if value is True else value for name, value in same.items() if value}
    with Browser(instance.url) as browser:
        assert browser.sign_in("root", make.root.password).status_code == 302
        assert 'name="options[max_artifacts_size]"' in browser.get(address).text
        for typed, status, stored in (("12", 302, 12), ("0", 422, 12), ("x", 422, 12), ("", 302, None)):
            browser.get(address)
            form = {"authenticity_token": browser.token(), "_method": "put", "part": "options"}
            saved = browser.post(address, data={**sent, **form, "options[max_artifacts_size]": typed})
            assert (saved.status_code, api.get(made.url, owner).json()["max_artifacts_size"]) == (status, stored)


def test_labels_name_declared_options() -> None:
    assert [field.name for field in project_fields(admin=True)] == list(PROJECT_LABELS)
    fields = *project_fields(admin=True), *group_fields(admin=True)
    assert all(all(field.explanation) for field in fields)
