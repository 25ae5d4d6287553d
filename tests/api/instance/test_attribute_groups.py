"""Attributes are effective, fixed or absent; none is stored without an effect."""

from pathlib import Path
from typing import Any, get_type_hints

import msgspec
import pytest

from ingot.accounts.instance.all_settings import AllSettings
from ingot.accounts.instance.params import ModifySettings
from ingot.accounts.users.details import UserDetails
from ingot.core.api.declared_fields import fixed_reason, fixed_values, metadata_of
from ingot.core.api.params import Params
from ingot.projects.groups.params import EditGroup
from ingot.projects.namespaces.group_options import INTERNAL_OPTIONS, SHOWN_ONLY_OPTIONS, GroupOptions
from ingot.projects.projects.options import INTERNAL, SHOWN_ONLY, ProjectCiOptions, ProjectOptions
from ingot.projects.projects.params import CreateProject, EditProject
from tests.client import Api, Make
from tests.factories import make_group, make_project

DECLARATIONS: list[tuple[type[msgspec.Struct], tuple[str, ...]]] = [
    (AllSettings, ()),
    (ProjectOptions, (*INTERNAL, *SHOWN_ONLY)),
    (ProjectCiOptions, ()),
    (GroupOptions, (*INTERNAL_OPTIONS, *SHOWN_ONLY_OPTIONS)),
    (UserDetails, ()),
]
SETTINGS = "/application/settings"


@pytest.mark.parametrize(("struct", "internal"), DECLARATIONS)
def test_every_attribute_belongs_to_a_group(struct: type[msgspec.Struct], internal: tuple[str, ...]) -> None:
    for name, hint in get_type_hints(struct, include_extras=True).items():
        effective = any(meta.description for meta in metadata_of(hint))
        assert name in internal or effective != bool(fixed_reason(hint)), name


def other_value(value: Any, hint: Any) -> Any:
    """Return a valid value of a type that is not the given one."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    choices = [choice for choice in _choices(hint) if choice != value]
    if isinstance(value, list):
        return ["other"]
    if choices:
        return choices[0]
    return True if "bool" in str(hint) else 7 if "int" in str(hint) else "other"


def _choices(hint: Any) -> list[Any]:
    schema = msgspec.json.schema(hint)
    return [choice for part in (schema, *schema.get("anyOf", ())) for choice in part.get("enum", ())]


def _fixed(struct: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the fixed attributes of a struct with a value that each cannot have."""
    hints = get_type_hints(struct, include_extras=True)
    return {name: other_value(value, hints[name]) for name, value in fixed_values(struct).items()}


def _assert_refused(api: Api, make: Make, url: str, sent: dict[str, Any], **effective: Any) -> None:
    before = api.get(url, make.root).json()
    refused = api.put(url, make.root, **sent, **effective)
    assert refused.status_code == 400
    assert refused.json()["message"].keys() == sent.keys()
    for name, reasons in refused.json()["message"].items():
        shown = msgspec.json.encode(sent[name]).decode()
        assert reasons == [f"cannot be changed to {shown}: not supported by this server"]
    assert api.get(url, make.root).json() == before
    same = {name: before[name] for name in sent if name in before}
    assert api.put(url, make.root, **same).status_code == 200


def test_fixed_settings_are_refused(api: Api, make: Make) -> None:
    _assert_refused(api, make, SETTINGS, _fixed(AllSettings), sign_in_text="Not stored")


def test_fixed_attributes_of_projects_groups_and_users_are_refused(api: Api, make: Make) -> None:
    owner = make.user()
    project, group = make_project(make, owner), make_group(make, owner)
    sent = _fixed(ProjectOptions) | _fixed(ProjectCiOptions)
    _assert_refused(api, make, project.url, sent, description="Not stored")
    _assert_refused(api, make, group.url, _fixed(GroupOptions), description="Not stored")
    _assert_refused(api, make, f"/users/{owner.id}", _fixed(UserDetails), bio="Not stored")


def test_absent_attributes_are_ignored_and_named(api: Api, make: Make) -> None:
    shown = api.get(SETTINGS, make.root).json()
    assert not ModifySettings.absent & shown.keys()
    sent = dict.fromkeys(sorted(ModifySettings.absent), 3)
    changed = api.put(SETTINGS, make.root, **sent)
    *named, rest = changed.headers["x-ingot-ignored"].split(", ")
    assert (changed.status_code, named) == (200, list(sent)[: len(named)])
    assert rest == f"... and {len(sent) - len(named)} more"
    assert 1900 < len(changed.headers["x-ingot-ignored"]) < 2100
    project = make_project(make)
    edited = api.put(project.url, make.root, monitor_access_level="private", description="Stored")
    assert (edited.json()["description"], edited.headers["x-ingot-ignored"]) == ("Stored", "monitor_access_level")
    assert "x-ingot-ignored" not in api.put(project.url, make.root, description="Again").headers


def gitlab_attributes() -> dict[str, set[str]]:
    """Return the names of GitLab's attributes by the object."""
    names = dict[str, set[str]]()
    for line in Path(__file__).with_name("gitlab_attributes.txt").read_text().splitlines():
        if line.startswith("["):
            section = names.setdefault(line.strip("[]"), set())
        elif line and not line.startswith("#"):
            section.add(line)
    return names


@pytest.mark.parametrize(
    ("subject", "params"),
    [("settings", (ModifySettings,)), ("project", (CreateProject, EditProject)), ("group", (EditGroup,))],
)
def test_attributes_of_gitlab_are_known(subject: str, params: tuple[type[Params], ...]) -> None:
    known = set[str]().union(*(each.absent for each in params))
    known.update(field.encode_name for each in params for field in msgspec.structs.fields(each))
    assert gitlab_attributes()[subject] <= known


def test_requests_with_absent_attributes_only_succeed(api: Api, make: Make) -> None:
    """Terraform and python-gitlab send such requests."""
    owner = make.user()
    group, project = make_group(make, owner), make_project(make, owner)
    absent = {
        SETTINGS: ("maintenance_mode", make.root),
        group.url: ("shared_runners_minutes_limit", owner),
        project.url: ("mirror_user_id", owner),
    }
    for url, (name, user) in absent.items():
        changed = api.put(url, user, **{name: 3})
        assert (changed.status_code, changed.headers["x-ingot-ignored"]) == (200, name)
        assert name not in changed.json()


def test_unknown_attributes_are_named(api: Api, make: Make) -> None:
    """Like absent ones: somebody who sets them may rely on what they do in GitLab; fields of responses are not."""
    owner = make.user()
    group, project = make_group(make, owner), make_project(make, owner)
    attributes: list[tuple[str, dict[str, Any]]] = [
        (SETTINGS, {"maintenance_mode": True, "invented_setting": 1}),
        (group.url, {"unique_project_download_limit": 3, "allowed_email_domains_list": "example.com"}),
        (project.url, {"only_allow_merge_if_all_status_checks_passed": True, "ci_restrict_pipeline_cancellation": "x"}),
        (f"/users/{owner.id}", {"auditor": True, "shared_runners_minutes_limit": 5}),
    ]
    for url, unknown in attributes:
        shown = api.get(url, make.root).json()
        changed = api.put(url, make.root, **shown, **unknown)
        assert (changed.status_code, changed.headers["x-ingot-ignored"]) == (200, ", ".join(unknown)), url
        assert not unknown.keys() & api.get(url, make.root).json().keys()
        assert "x-ingot-ignored" not in api.put(url, make.root, **shown).headers, url
    made = api.post("/groups", owner, name=make.name("group"), path=make.name("group"), duo_features_enabled=True)
    assert (made.status_code, made.headers["x-ingot-ignored"]) == (201, "duo_features_enabled")
    many = {f"unknown_{number}": 1 for number in range(200)} | {"x\r\nSet-Cookie: a": 1, "Ü" * 9: 1, "y" * 101: 1}
    named = api.put(group.url, owner, **many, description="Stored").headers["x-ingot-ignored"].split(", ")
    assert named == [f"unknown_{number}" for number in range(50)]


def test_a_fixed_attribute_alone_is_a_given_one(api: Api, make: Make) -> None:
    for value in (None, False, ""):
        assert api.put(SETTINGS, make.root, gravatar_enabled=value).status_code == 200
    assert api.put(SETTINGS, make.root).status_code == 400


def test_the_value_that_clients_send_for_a_missing_feature_of_groups(api: Api, make: Make) -> None:
    """Terraform sends false for each option that the configuration omits."""
    group = make_group(make)
    for value in (False, None, ""):
        assert api.put(group.url, make.root, auto_devops_enabled=value).json()["auto_devops_enabled"] is False
    assert api.put(group.url, make.root, auto_devops_enabled=True).status_code == 400
