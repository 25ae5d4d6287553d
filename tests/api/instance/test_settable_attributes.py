"""Every attribute that a response contains and a request may set is effective, fixed, or content of its object."""

import re
import types
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints

import msgspec

from ingot.accounts.instance.all_settings import AllSettings
from ingot.core.api.declared_fields import fixed_reason, fixed_values, metadata_of
from ingot.core.api.routes import Endpoint
from ingot.server.registry import all_endpoints

TESTS = Path(__file__).parents[2]
CONTENT = {
    "texts, names, times and references that responses and pages show": (
        "AppearanceView AttachmentView AwardView BadgeView BoardListView BoardView BroadcastMessageView CommandReply "
        "CommentView "
        "CommitDetailView CommitStatusView CommitView CustomAttributeView DeploymentView DraftNoteView "
        "EnvironmentView ImportView IssueLinkView IssueView LabelView MergeRequestDetailView MergeRequestView "
        "MilestoneView NoteView PipelineView ReleaseLinkView ReleaseView SecureFileView SnippetView StatusView "
        "StoredFileView TagReleaseView TagView TopicView TriggerView WikiPageView WrittenFileView"
    ),
    "keys, tokens and rights, which are what they state": (
        "AllowedGroupView AllowedProjectView ApplicationView DeployKeyView DeployTokenView EmailView GpgKeyView "
        "InvitationView JobPayload KeyView MemberView PagesDomainView RegisteredRunnerView ResetTokenView "
        "ResourceTokenView ShareView StateLockView TokenView"
    ),
    "rules, schedules and variables, which are what they state": (
        "ApprovalRuleView ApprovalsView BranchView ContainerRuleView FeatureFlagView FreezePeriodView PackageRuleView "
        "ProjectApprovalRuleView ProtectedBranchView ProtectedEnvironmentView "
        "ProtectedTagView ScheduleDetailView ScheduleVariableView "
        "StorageMoveView UserListView VariableView"
    ),
}
"""Views of objects whose attributes are all content, by kind."""
OPTIONS = (  # noqa: SIM905 - A list of names is easier to read this way.
    "AdminUserView ApprovalSettingsView GlobalNotificationSettingsView GroupDetailView GroupHookView GroupPushRuleView "
    "HookView NotificationSettingsView PlanLimitsView ProjectHookView ProjectView PullMirrorView PushRuleView "
    "RemoteMirrorView ResourceGroupView RunnerDetailsView ServiceView SettingsView"
).split()
"""Views of objects with options: a test sends each attribute, unless its declaration says that it is fixed."""

FORMATTED = {
    r"throttle_(un)?authenticated_\w+": "api/kernel/test_throttles.py",
    r"throttle_protected_paths_\w+": "api/kernel/test_throttles.py",
    r"global_search_(issues|merge_requests|snippet_titles|users)_enabled": "api/instance/test_effective_settings.py",
    r"(project_|group_)?runner_token_expiration_interval": "ci/runners/test_runner_settings.py",
}
"""Attributes whose names a test composes, by their form."""


class Attribute(NamedTuple):
    """Attribute that a request may set and whose response shows it."""

    view: str
    name: str
    declared: bool
    """Whether its declaration states an effect, or that it is fixed."""
    fixed: bool


def _structs(hint: Any) -> Iterator[type[msgspec.Struct]]:
    """Yield the structs of a type of response."""
    if get_origin(hint) is not None or isinstance(hint, types.UnionType):
        for part in get_args(hint):
            yield from _structs(part)
    elif isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        yield hint


def _attributes_of(endpoint: Endpoint) -> Iterator[Attribute]:
    for params in (endpoint.params, *endpoint.kinds.values()) if endpoint.params else ():
        if params is None:
            continue
        hints, constants = get_type_hints(params, include_extras=True), params.fixed_values
        for view in _structs(endpoint.returns):
            for field in msgspec.structs.fields(params):
                if field.encode_name in view.__struct_encode_fields__:
                    fixed = field.name in constants or bool(fixed_reason(hints[field.name]))
                    declared = fixed or any(meta.description for meta in metadata_of(hints[field.name]))
                    yield Attribute(view.__name__, field.encode_name, declared, fixed)


@cache
def _settable() -> frozenset[Attribute]:
    """Return the settable attributes of all operations that create or change something."""
    changing = [each for each in all_endpoints() if each.method in ("POST", "PUT", "PATCH")]
    return frozenset(attribute for endpoint in changing for attribute in _attributes_of(endpoint))


@cache
def _sent_by_tests() -> frozenset[str]:
    """Return the names that tests send: as arguments, as keys, in texts of their own, or in names of form fields."""
    sources = (path.read_text() for path in sorted(TESTS.rglob("*.py")) if path != Path(__file__))
    pattern = re.compile(r'\b([a-z][a-z0-9_]{2,})(?:=|": |": \{|\]")|"([a-z][a-z0-9_]{2,})"')
    return frozenset(name for source in sources for pair in pattern.findall(source) for name in pair if name)


def _is_sent(name: str) -> bool:
    return name in _sent_by_tests() or any(re.fullmatch(form, name) for form in FORMATTED)


def test_tests_that_compose_names_exist() -> None:
    assert all((TESTS / path).is_file() for path in FORMATTED.values())


def test_every_object_with_settable_attributes_has_a_kind() -> None:
    content = [name for names in CONTENT.values() for name in names.split()]
    classified = sorted([*content, *OPTIONS])
    assert classified == sorted(set(classified))
    assert {attribute.view for attribute in _settable() if not attribute.declared} - set(classified) == set()
    assert set(classified) - {attribute.view for attribute in _settable()} == set()


def test_every_option_is_fixed_or_sent_by_a_test() -> None:
    options = {each for each in _settable() if each.view in OPTIONS and not each.fixed}
    assert sorted({f"{each.view}.{each.name}" for each in options if not _is_sent(each.name)}) == []


def test_every_setting_is_fixed_or_sent_by_a_test() -> None:
    fixed: Mapping[str, Any] = fixed_values(AllSettings)
    effective = [name for name in AllSettings.__struct_fields__ if name not in fixed]
    assert [name for name in effective if not _is_sent(name)] == []
