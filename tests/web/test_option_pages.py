"""Every effective option of groups and projects has a field on a page, with meaning, default and who is affected."""

import html
import re
from typing import Any, get_type_hints

import msgspec
import pytest
from msgspec import UNSET

from ingot.collaboration.merge_requests.approval_settings.params import EditApprovalSettings
from ingot.core.api.declared_fields import default_of, metadata_of
from ingot.projects.groups.params import EditGroup
from ingot.projects.namespaces.group_options import GroupOptions
from ingot.projects.projects.options import ProjectCiOptions, ProjectOptions
from ingot.projects.projects.params import EditProject
from ingot.repositories.mirrors.params import CreateMirror
from ingot.sites.project_pages.params import EditPages
from ingot.web.languages import load_catalogue
from ingot.web.projects.option_fields import GROUP_LABELS, PROJECT_LABELS, DeclaredEffect, declared_effects
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import make_group, make_project
from tests.web.browser import Browser

Structs = tuple[type[msgspec.Struct], ...]
DECLARED: dict[str, Structs] = {
    "project": (EditProject, ProjectOptions, ProjectCiOptions, EditApprovalSettings, EditPages),
    "group": (EditGroup, GroupOptions),
}
FIELDS: dict[str, dict[tuple[str, str], str]] = {
    "project": {
        ("/-/edit", "features"): (
            "repository_access_level public_jobs lfs_enabled request_access_enabled emails_enabled "
            "warn_about_potentially_unwanted_characters show_diff_preview_in_email show_default_award_emojis "
            "enforce_auth_checks_on_uploads printing_merge_request_link_enabled"
        ),
        ("/-/edit", "merging"): (
            "merge_method squash_option only_allow_merge_if_pipeline_succeeds "
            "only_allow_merge_if_all_discussions_are_resolved merge_pipelines_enabled merge_trains_enabled "
            "merge_trains_skip_train_allowed merge_trains_parallel_pipelines merge_trains_batch_size "
            "rebase_stacked_merge_requests remove_source_branch_after_merge autoclose_referenced_issues "
            "resolve_outdated_diff_discussions mr_default_target_self issue_branch_template "
            "merge_request_title_regex merge_request_title_regex_description merge_requests_template issues_template"
        ),
        ("/-/edit", "visibility"): "visibility",
        ("/-/edit", "options"): " ".join(PROJECT_LABELS),
        ("/-/settings/repository", "branch"): "default_branch",
        ("/-/settings/ci_cd", "ci"): (
            "ci_config_path build_timeout build_coverage_regex build_git_strategy ci_default_git_depth "
            "ci_delete_pipelines_in_seconds ci_pipeline_variables_minimum_override_role "
            "ci_id_token_sub_claim_components auto_cancel_pending_pipelines keep_latest_artifact "
            "ci_forward_deployment_enabled ci_forward_deployment_rollback_allowed shared_runners_enabled "
            "group_runners_enabled ci_allow_fork_pipelines_to_run_in_parent_project "
            "ci_push_repository_for_job_token_allowed"
        ),
        ("/-/settings/approval_rules", "approvals"): (
            "approvals_before_merge reset_approvals_on_push disable_overriding_approvers_per_merge_request "
            "merge_requests_author_approval merge_requests_disable_committers_approval require_password_to_approve"
        ),
        ("/-/settings/mirrors", "pull"): (
            "mirror_trigger_builds only_mirror_protected_branches mirror_overwrites_diverged_branches "
            "mirror_branch_regex"
        ),
        ("/-/pages", "site"): "pages_access_level pages_unique_domain_enabled pages_https_only pages_primary_domain",
    },
    "group": {
        ("/-/edit", "general"): (
            "visibility project_creation_level request_access_enabled share_with_group_lock lfs_enabled "
            "require_two_factor_authentication two_factor_grace_period"
        ),
        ("/-/edit", "rules"): (
            "shared_runners_setting enabled_git_access_protocol default_branch ip_restriction_ranges "
            "show_diff_preview_in_email membership_lock prevent_sharing_groups_outside_hierarchy "
            "prevent_forking_outside_group"
        ),
        ("/-/edit", "options"): " ".join(GROUP_LABELS),
    },
}
"""Fields by the page and the form that offers them."""
AFFECTED = {
    "project": (
        "These rules affect everyone who pushes to the project or commits on its pages, also its owners and "
        "administrators. By default there are none."
    ),
    "group": (
        "These rules affect everyone who pushes to new projects of the group or commits on their pages, also owners "
        "and administrators."
    ),
}
"""Sentences on who is affected by the push rules; other settings say it one by one."""
OTHER_NAMES = {
    "issues_enabled": "issues_access_level",
    "merge_requests_enabled": "merge_requests_access_level",
    "jobs_enabled": "builds_access_level",
    "wiki_enabled": "wiki_access_level",
    "snippets_enabled": "snippets_access_level",
    "container_registry_enabled": "container_registry_access_level",
    "default_branch_protection_defaults": "default_branch_protection",
    "restrict_user_defined_variables": "ci_pipeline_variables_minimum_override_role",
}
"""Attributes, by the other one that sets them too and is on a page."""
OTHER_FIELDS = {
    "container_expiration_policy": ("/-/container_registry", "policy[enabled]", "container_expiration_policy"),
    "mirror": ("/-/settings/mirrors", "pull[enabled]", "pull_enabled"),
}
"""Options with several fields or fields of other names, by the page, a field, and the name of the explanation."""


def _declarations(kind: str) -> dict[str, DeclaredEffect]:
    """Return the explanation of each effective option; later declarations state the defaults."""
    return {
        name: effect for struct in DECLARED[kind] for name, effect in declared_effects(struct).items() if effect.effect
    }


def _offered(kind: str) -> list[tuple[str, str, str]]:
    """Return the page, the form and the name of each field."""
    return [(page, form, name) for (page, form), names in FIELDS[kind].items() for name in names.split()]


@pytest.mark.parametrize("kind", DECLARED)
def test_every_effective_option_has_a_field(kind: str) -> None:
    offered = [name for _, _, name in _offered(kind)]
    assert len(offered) == len(set(offered))
    declared = _declarations(kind)
    exceptions = {name for name, other in OTHER_NAMES.items() if name in declared and other in offered}
    exceptions |= OTHER_FIELDS.keys() if kind == "project" else set()
    assert sorted(declared.keys() ^ {*offered, *exceptions}) == []


@pytest.mark.parametrize("kind", DECLARED)
def test_fields_have_a_meaning_a_default_and_who_is_affected(instance: Instance, make: Make, kind: str) -> None:
    made: Any = make_project(make) if kind == "project" else make_group(make)
    start = f"/{made.path}" if kind == "project" else f"/groups/{made.path}"
    declared, pages, german = _declarations(kind), dict[str, str](), load_catalogue("de")
    fields = [(page, f"{form}[{name}]", name, name) for page, form, name in _offered(kind)]
    if kind == "project":
        fields += [(page, field, name, hint) for name, (page, field, hint) in OTHER_FIELDS.items()]
    with Browser(instance.url) as browser:
        assert browser.sign_in("root", make.root.password).status_code == 302
        for page, field, name, hint in fields:
            if page not in pages:
                response = browser.get(f"{start}{page}")
                assert response.status_code == 200, page
                pages[page] = html.unescape(response.text).replace("<code>", "`").replace("</code>", "`")
            assert f'name="{field}"' in pages[page], (page, name)
            _, found, shown = re.split(rf'(id="(?:options_)?{hint}_hint">)', pages[page], maxsplit=1)
            assert found, name
            effect, default, affected = declared[name]
            assert effect and default and affected, name
            assert shown.startswith(f"{effect}<br><span>Default:</span> "), name
            assert f" <span>Affects:</span> {affected}." in shown.partition("</p>")[0], name
            assert {effect, affected} <= german.keys(), name


@pytest.mark.parametrize("kind", AFFECTED)
def test_push_rules_say_who_is_affected(instance: Instance, make: Make, kind: str) -> None:
    made: Any = make_project(make) if kind == "project" else make_group(make)
    start = f"/{made.path}" if kind == "project" else f"/groups/{made.path}"
    with Browser(instance.url) as browser:
        assert browser.sign_in("root", make.root.password).status_code == 302
        assert AFFECTED[kind] in browser.get(f"{start}/-/settings/push_rules").text
    assert AFFECTED[kind] in load_catalogue("de")


def test_long_texts_have_several_lines(instance: Instance, make: Make) -> None:
    with Browser(instance.url) as browser:
        assert browser.sign_in("root", make.root.password).status_code == 302
        page = browser.get(f"/{make_project(make).path}/-/edit").text
    for name, element in (("issue_branch_template", "input"), ("issues_template", "textarea")):
        assert f'<{element} id="merging_{name}"' in page, name


def test_options_of_push_mirrors_have_a_meaning_and_a_default(instance: Instance, make: Make) -> None:
    effects, german = declared_effects(CreateMirror), load_catalogue("de")
    with Browser(instance.url) as browser:
        assert browser.sign_in("root", make.root.password).status_code == 302
        page = browser.get(f"/{make_project(make).path}/-/settings/mirrors").text
    for name in ("only_protected_branches", "keep_divergent_refs"):
        effect, default, affected = effects[name]
        assert (effect in german, affected in german, default) == (True, True, "off")
        shown = page.partition(f'id="mirror_{name}_hint"')[2].partition("</p>")[0]
        assert effect in shown and "</span> off. " in shown and affected in shown, name


@pytest.mark.parametrize("kind", DECLARED)
def test_new_objects_have_the_declared_defaults(api: Api, make: Make, kind: str) -> None:
    """Of attributes with columns of their own; those of documents take their defaults from the declaration."""
    made: Any = make_project(make) if kind == "project" else make_group(make)
    urls = (made.url, *((f"{made.url}/approvals",) if kind == "project" else ()))
    shown: dict[str, Any] = {}
    for url in urls:
        shown |= api.get(url, make.root).json()
    compared = 0
    for struct in (EditProject, EditApprovalSettings) if kind == "project" else (EditGroup,):
        hints = get_type_hints(struct, include_extras=True)
        for field in msgspec.structs.fields(struct):
            default = default_of(field, hints[field.name])
            follows = isinstance(default, str) and " " in default
            if default is not UNSET and not follows and metadata_of(hints[field.name]):
                assert shown[field.name] == default, field.name
                compared += 1
    assert compared > 2


def test_changes_through_each_form_are_recorded(api: Api, make: Make, instance: Instance) -> None:
    """Also of settings that are stored outside of the project's row."""
    project = make_project(make, initialize_with_readme=True)
    changes: list[tuple[str, str, dict[str, Any]]] = [
        ("PUT", "", {"issues_access_level": "private", "wiki_enabled": False, "build_timeout": 7200}),
        ("PUT", "", {"keep_latest_artifact": False, "ci_id_token_sub_claim_components": ["project_path", "ref"]}),
        ("POST", "/approvals", {"merge_requests_author_approval": True}),
        (
            "PUT",
            "/mirror/pull",
            {"url": "https://mirror.example/a", "enabled": False, "mirror_branch_regex": "main"},
        ),
        ("PATCH", "/pages", {"pages_https_only": True}),
    ]
    for method, path, sent in changes:
        assert api.request(method, f"{project.url}{path}", make.root, json=sent).is_success, path
    recorded = {
        each["details"]["change"]: (each["details"]["from"], each["details"]["to"])
        for each in api.get(f"{project.url}/audit_events", make.root, per_page=100).json()
    }
    assert recorded == {
        "issues_access_level": ("enabled", "private"),
        "wiki_access_level": ("enabled", "disabled"),
        "build_timeout": ("3600", "7200"),
        "keep_latest_artifact": ("true", "false"),
        "ci_id_token_sub_claim_components": ('["project_path","ref_type","ref"]', '["project_path","ref"]'),
        "merge_requests_author_approval": (None, "true"),
        "mirror_branch_regex": (None, "main"),
        "pages_https_only": ("false", "true"),
    }


def test_the_subject_of_id_tokens(api: Api, make: Make, instance: Instance) -> None:
    project = make_project(make)
    address, name = f"/{project.path}/-/settings/ci_cd", "ci_id_token_sub_claim_components"
    with Browser(instance.url) as browser:
        assert browser.sign_in("root", make.root.password).status_code == 302
        kept = browser.form(address, address).fields
        for typed, status, stored in (
            ("project_path, ref", 302, ["project_path", "ref"]),
            ("ref", 422, ["project_path", "ref"]),
            ("project_path, x", 422, ["project_path", "ref"]),
            ("", 302, ["project_path", "ref"]),
        ):
            browser.get(address)
            sent = kept | {"authenticity_token": browser.token(), "_method": "put", f"ci[{name}]": typed}
            assert browser.post(address, data=sent).status_code == status, typed
            assert api.get(project.url, make.root).json()[name] == stored, typed
