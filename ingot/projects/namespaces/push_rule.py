"""Push rule of a project or group, stored with its options; empty expressions and zero mean no condition."""

from typing import Annotated

import msgspec
from msgspec import Meta

_Pattern = Annotated[str, Meta(max_length=511)]
_Megabytes = Annotated[int, Meta(ge=0, le=2**31 - 1)]


class PushRule(msgspec.Struct, frozen=True, omit_defaults=True):
    """Conditions of a push rule."""

    created_at: str = ""
    author_email_regex: _Pattern = ""
    branch_name_regex: _Pattern = ""
    commit_committer_check: bool = False
    commit_committer_name_check: bool = False
    commit_message_negative_regex: Annotated[str, Meta(max_length=2047)] = ""
    commit_message_regex: _Pattern = ""
    deny_delete_tag: bool = False
    file_name_regex: _Pattern = ""
    max_file_size: _Megabytes = 0
    member_check: bool = False
    prevent_secrets: bool = False
    reject_non_dco_commits: bool = False
    reject_unsigned_commits: bool = False


PATTERNS = (
    "author_email_regex",
    "branch_name_regex",
    "commit_message_negative_regex",
    "commit_message_regex",
    "file_name_regex",
)
"""Fields that are regular expressions."""
