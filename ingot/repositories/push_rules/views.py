"""Response structs of push rules."""

from typing import Any

import msgspec

from ingot.core.api.views import View
from ingot.core.db.times import Timestamp
from ingot.projects.namespaces.push_rule import PushRule
from ingot.projects.namespaces.tables import Namespace
from ingot.projects.projects.tables import Project


class GroupPushRuleView(View, kw_only=True):
    """Push rule of a group; new projects of the group begin with it."""

    id: int
    created_at: Timestamp
    author_email_regex: str
    branch_name_regex: str
    commit_committer_check: bool
    commit_committer_name_check: bool
    commit_message_negative_regex: str
    commit_message_regex: str
    deny_delete_tag: bool
    file_name_regex: str
    max_file_size: int
    member_check: bool
    prevent_secrets: bool
    reject_non_dco_commits: bool
    reject_unsigned_commits: bool


class PushRuleView(GroupPushRuleView, kw_only=True):
    """Push rule of a project."""

    project_id: int


def push_rule_view(project: Project, rule: PushRule) -> PushRuleView:
    """Return the view of the rule of a project."""
    return PushRuleView(id=project.id, project_id=project.id, **_fields(rule))


def group_push_rule_view(group: Namespace, rule: PushRule) -> GroupPushRuleView:
    """Return the view of the rule of a group."""
    return GroupPushRuleView(id=group.id, **_fields(rule))


def _fields(rule: PushRule) -> dict[str, Any]:
    return msgspec.structs.asdict(rule)
