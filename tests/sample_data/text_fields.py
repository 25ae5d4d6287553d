"""Text fields of the API, and those with restricted values."""

import re
from collections.abc import Iterator
from typing import Any

from ingot.ci.terraform.params import LOCK_FIELDS
from ingot.server.api_document import api_document

_WORDS_OF_PATHS = re.compile(r"/[a-z_-]+(?=/|$)")
_ALREADY_THERE = {
    "ref",
    "sha",
    "start_branch",
    "start_project",
    "start_sha",
    "last_commit_id",
    "commit_id",
    "namespace",
}
_ALREADY_THERE |= {"merge_request_diff_head_sha", "discussion_to_resolve", "target_project_id", "namespace_path"}
_ALREADY_THERE |= {"in_reply_to_discussion_id"}
_SECRET = {"password", "approval_password", "token", "signing_token", "import_url"}
_CHECKED = {"color", "font", "email", "public_email", "notification_email", "username", "path", "slug", "key", "scopes"}
_CHECKED |= {
    "duration",
    "recipients",
    "subdomain",
    "server_host",
    "branches_to_be_notified",
    "environment_scope",
    "redirect_uri",
    "login",
}
NOT_FREE = _ALREADY_THERE | _SECRET | _CHECKED
_CHANGELOG = ("branch", "config_file", "config_file_ref", "file", "from", "message", "to", "trailer", "version")
_PUSH_RULES = (
    *("author_email_regex", "branch_name_regex", "commit_message_negative_regex", "commit_message_regex"),
    "file_name_regex",
)
ELSEWHERE = {
    ("award_emoji", "name"): "one of a list",
    ("status", "emoji"): "one of a list",
    ("users", "commit_email"): "an address of the user or a word",
    ("groups", "ip_restriction_ranges"): "networks",
    ("bulk_publish", "note"): "a comment like others",
    ("publish", "version"): "a semantic version",
    ("domains", "certificate"): "PEM blocks that are checked",
    ("domains", "domain"): "a host name that is checked",
    ("groups", "name"): "letters, digits and a few signs",
    ("projects", "name"): "the same",
    ("fork", "name"): "the same",
    ("projects", "default_branch"): "a branch like others",
    ("projects", "build_coverage_regex"): "a regular expression, which no page shows",
    ("projects", "issue_branch_template"): "a template of branch names, which are branches like others",
    ("hooks", "custom_webhook_template"): "JSON, which no page shows",
    ("projects", "merge_request_title_regex"): "a regular expression, which no page shows",
    ("projects", "repository_storage"): "the name of a storage",
    ("repository_storage_moves", "destination_storage_name"): "the name of a storage",
    ("project_repository_storage_moves", "destination_storage_name"): "the name of a storage",
    ("project_repository_storage_moves", "source_storage_name"): "the name of a storage",
    ("groups", "default_branch"): "a branch like others",
    ("appearance", "message_background_color"): "a color",
    ("appearance", "message_font_color"): "a color",
    ("feature_flags", "name"): "letters, digits and a few signs",
    ("register", "app_name"): "stored nowhere",
    ("register", "instance_id"): "a token",
    ("metrics", "app_name"): "stored nowhere",
    ("metrics", "instance_id"): "a token",
    ("secure_files", "name"): "the name of a file, sent with it",
    ("state", "ID"): "compared and stored nowhere",
    **{("lock", name): "no page shows any" for name in LOCK_FIELDS.values()},
    **{("changelog", name): "a branch, file, commit or trailer" for name in _CHANGELOG},
    **{("push_rule", name): "a regular expression" for name in _PUSH_RULES},
    ("projects", "mirror_branch_regex"): "a regular expression",
    ("pull", "mirror_branch_regex"): "a regular expression",
    ("pull", "auth_user"): "never shown",
    ("pull", "auth_password"): "never shown",
    ("pull", "url"): "a URL that is checked",
    ("remote_mirrors", "url"): "a URL that is checked",
    ("export", "description"): "written into the archive only",
    ("rules", "package_name_pattern"): "no page shows any",
    ("rules", "repository_path_pattern"): "no page shows any",
    ("attachments", "branch"): "never used",
    ("environments", "name"): "letters, digits and a few signs",
    ("deployments", "environment"): "the same",
    ("custom_attributes", "value"): "no page shows any",
    ("links", "direct_asset_path"): "another word for the path",
    ("labels", "new_name"): "another word for the name",
    ("statuses", "context"): "another word for the name",
    ("snippets", "code"): "another word for the content",
    ("time_estimate", "summary"): "passed over",
    ("fork", "description"): "the description of a project",
    ("release", "description"): "the description of a release",
    ("cherry_pick", "branch"): "a branch that is there",
    ("cherry_pick", "message"): "the message of a commit",
    ("revert", "branch"): "a branch that is there",
    ("merge", "squash_commit_message"): "the message of a commit",
    ("apply", "commit_message"): "the message of a commit",
    ("batch_apply", "commit_message"): "the message of a commit",
    ("files", "branch"): "the same call as for many files",
    ("files", "author_email"): "the same",
    ("files", "author_name"): "the same",
    ("files", "commit_message"): "the same",
    ("files", "content"): "the same",
    ("artifacts", "expire_in"): "a duration",
    ("jobs", "checksum"): "compared and stored nowhere",
    ("jobs", "failure_reason"): "one of a list",
    ("jobs", "trace"): "the log, which the sample data sends in parts",
    ("lint", "content"): "stored nowhere; the page has tests of its own",
    ("pipeline_schedules", "cron"): "numbers and a few signs",
    ("pipeline_schedules", "cron_timezone"): "one of a list",
    ("freeze_periods", "freeze_start"): "numbers and a few signs",
    ("freeze_periods", "freeze_end"): "numbers and a few signs",
    ("freeze_periods", "cron_timezone"): "one of a list",
    ("request", "last_update"): "stored nowhere",
    ("request", "system_id"): "sent by the runner of the sample data",
    ("verify", "system_id"): "sent by the runner of the sample data",
    ("runners", "description"): "given when the runners of the sample data are created",
    ("runners", "maintainer_note"): "another name of the maintenance note",
    ("runners", "maintenance_note"): "given when the runners of the sample data are created",
    ("markdown", "text"): "rendered and kept nowhere",
    ("markdown", "project"): "a project that is there",
}
"""Text fields that the sample data does not fill, with the reason."""
EXCLUDED = {
    "settings": "those that pages show are set where the world opens",
    "features": "switches for programs",
    "user": "projects, made for somebody else",
    "session": "tells who somebody is",
    "github": "names of another server, which tests of imports bring along",
    "gitea": "the same",
    "import": "an archive, which tests of imports bring along",
    "remote-import": "the same",
}
"""Kinds of objects that are not checked, with the reason."""


def noun_of(path: str) -> str:
    """Return the kind of object of a call: the last path segment that is no parameter."""
    words: list[str] = _WORDS_OF_PATHS.findall(path)
    return words[-1][1:]


def free_texts() -> set[tuple[str, str]]:
    """Return the free text fields of each kind of object."""
    return {
        (noun_of(path), name)
        for path, operations in api_document()["paths"].items()
        for method in ("post", "put")
        for name in _texts(operations.get(method, {}))
        if name not in NOT_FREE and noun_of(path) not in EXCLUDED
    }


def _texts(operation: dict[str, Any]) -> Iterator[str]:
    for content in operation.get("requestBody", {}).get("content", {}).values():
        for name, schema in _plain(content["schema"]).get("properties", {}).items():
            if _is_text(schema):
                yield name


def _plain(schema: dict[str, Any]) -> dict[str, Any]:
    name = schema.get("$ref", "").rpartition("/")[2]
    found: dict[str, Any] = api_document()["components"]["schemas"][name] if name else schema
    return found


def _is_text(schema: dict[str, Any]) -> bool:
    plain = _plain(schema)
    kinds = plain.get("type", [])
    if "string" in ([kinds] if isinstance(kinds, str) else kinds):
        return "enum" not in plain and "format" not in plain
    return any(_is_text(each) for each in [*plain.get("anyOf", []), *plain.get("oneOf", [])])
