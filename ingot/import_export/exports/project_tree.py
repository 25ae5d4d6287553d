"""Relations of a project export: the files ``tree/project/*.ndjson`` with GitLab's names, and ``tree/project.json``."""

from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any

import msgspec
from sqlalchemy import bindparam, select

from ingot.accounts.keys.tables import ssh_keys
from ingot.accounts.users.tables import users
from ingot.ci.pipelines.tables import ci_settings
from ingot.ci.schedules.tables import pipeline_schedules
from ingot.collaboration.boards.tables import board_lists, boards
from ingot.collaboration.issues.links.tables import issue_links
from ingot.collaboration.issues.tables import issues, work_item_parents
from ingot.collaboration.labels.tables import label_priorities, labels
from ingot.collaboration.milestones.tables import milestones
from ingot.collaboration.notes.tables import notes
from ingot.collaboration.releases.tables import release_links, release_milestones
from ingot.import_export.exports.pipelines import pipeline_rows
from ingot.import_export.exports.rows import Row, RowReader
from ingot.import_export.exports.subject_parts import NoteParts, label_row, labels_by_id, milestone_row
from ingot.import_export.exports.work_items import (
    VISIBILITY_LEVELS,
    issue_rows,
    merge_request_rows,
    snippet_rows,
)
from ingot.import_export.work_item_records import PARENT
from ingot.projects.badges.tables import badges
from ingot.projects.deploy_keys.tables import deploy_key_projects
from ingot.projects.environments.protection.tables import deploy_access_levels, protected_environments
from ingot.projects.namespaces.tables import memberships
from ingot.projects.projects.options import ProjectCiOptions, ProjectOptions
from ingot.projects.projects.tables import project_topics, projects
from ingot.repositories.protection.tables import protected_branches, protected_tags
from ingot.repositories.tags.tables import releases
from ingot.webhooks.tables import EVENT_FLAGS, hooks

_FEATURES = ("issues", "merge_requests", "builds", "wiki", "snippets", "container_registry")
_SWITCHES = {"builds": "jobs_enabled"}
_LEVELS = {"disabled": 0, "private": 10, "enabled": 20, "public": 30}
"""GitLab's numbers of the access levels of features."""
_PLAIN_COLUMNS = (
    "description",
    "archived",
    "default_branch",
    "issues_enabled",
    "merge_requests_enabled",
    "jobs_enabled",
    "wiki_enabled",
    "snippets_enabled",
    "container_registry_enabled",
    "shared_runners_enabled",
    "lfs_enabled",
    "request_access_enabled",
    "only_allow_merge_if_pipeline_succeeds",
    "only_allow_merge_if_all_discussions_are_resolved",
    "printing_merge_request_link_enabled",
    "remove_source_branch_after_merge",
    "merge_method",
    "squash_option",
    "ci_config_path",
    "created_at",
)
_MEMBERS = select(memberships).where(
    memberships.c.source_kind == bindparam("kind"), memberships.c.source_id == bindparam("source")
)
_COMMIT_NOTES = (
    select(notes)
    .where(notes.c.project_id == bindparam("project"), notes.c.commit_oid.is_not(None))
    .where(notes.c.subject_kind == "commit", notes.c.id > bindparam("after"))
    .order_by(notes.c.id)
    .limit(100)
)
_LINKS = (
    select(issue_links)
    .join(issues, issues.c.id == issue_links.c.source_id)
    .where(issues.c.project_id == bindparam("project"))
    .order_by(issue_links.c.id)
)
_PARENTS = (
    select(work_item_parents)
    .join(issues, issues.c.id == work_item_parents.c.parent_id)
    .where(issues.c.project_id == bindparam("project"))
    .order_by(work_item_parents.c.id)
)
_CI_SETTINGS = select(ci_settings).where(ci_settings.c.project_id == bindparam("project"))
HOOK_COLUMNS = (
    "id",
    "url",
    "name",
    "description",
    "enable_ssl_verification",
    "push_events_branch_filter",
    "branch_filter_strategy",
    "created_at",
)
"""Columns of webhooks in an export, besides the flags of their events."""
_decode_options = msgspec.json.decode


def project_row(reader: RowReader, project_id: int, description: str | None) -> Row:
    """Return the attributes of a project; ``description`` replaces its own."""
    project = reader.by_ids(projects, [project_id])[project_id]
    options = msgspec.structs.asdict(msgspec.json.decode(project["options_document"], type=ProjectOptions))
    private_features = options.pop("private_features")
    row = {
        **options,
        **msgspec.structs.asdict(msgspec.json.decode(project["options_document"], type=ProjectCiOptions)),
        **{name: project[name] for name in _PLAIN_COLUMNS},
        **_ci_options(reader, project_id),
        "name": project["name"],
        "path": project["path"],
        "full_path": project["full_path"],
        "visibility_level": VISIBILITY_LEVELS[project["visibility"]],
        "public_builds": project["public_jobs"],
        "merge_requests_ff_only_enabled": project["merge_method"] == "ff",
        "merge_requests_rebase_enabled": project["merge_method"] == "rebase_merge",
        "topics": [topic["name"] for topic in reader.all_rows(project_topics, "project_id", project_id)],
        "avatar_file": project["avatar_file"],
        "private_features": private_features,
    }
    return row if description is None else {**row, "description": description}


def _ci_options(reader: RowReader, project_id: int) -> Row:
    for row in reader.rows(ci_settings, _CI_SETTINGS, project=project_id):
        return {
            "build_timeout": row["build_timeout"],
            "build_coverage_regex": row["build_coverage_regex"],
            "build_git_strategy": row["build_git_strategy"],
            "ci_default_git_depth": row["default_git_depth"],
            "auto_cancel_pending_pipelines": "enabled" if row["auto_cancel_pending_pipelines"] else "disabled",
            "keep_latest_artifact": row["keep_latest_artifact"],
            "group_runners_enabled": row["group_runners_enabled"],
        }
    return {}


def _labels(reader: RowReader, project_id: int) -> Iterator[Row]:
    priorities = {
        row["label_id"]: row["priority"] for row in reader.all_rows(label_priorities, "project_id", project_id)
    }
    for batch in reader.batches(labels, "project_id", project_id):
        for label in batch:
            yield label_row(label, [priorities[label["id"]]] if label["id"] in priorities else [])


def _milestones(reader: RowReader, project_id: int) -> Iterator[Row]:
    for batch in reader.batches(milestones, "project_id", project_id):
        yield from map(milestone_row, batch)


def member_rows(reader: RowReader, kind: str, source_id: int) -> Iterator[Row]:
    """Yield the direct members of a project or group."""
    rows = reader.rows(memberships, _MEMBERS, kind=kind, source=source_id)
    people = reader.by_ids(users, [row["user_id"] for row in rows])
    for row in rows:
        user = people[row["user_id"]]
        columns = ("id", "access_level", "user_id", "notification_level", "created_at", "created_by_id", "expires_at")
        yield {
            **{name: row[name] for name in columns},
            "source_type": "Project" if kind == "project" else "Namespace",
            "user": {"id": user["id"], "public_email": user["public_email"], "username": user["username"]},
        }


def _commit_notes(reader: RowReader, project_id: int) -> Iterator[Row]:
    after = 0
    while batch := reader.rows(notes, _COMMIT_NOTES, project=project_id, after=after):
        parts = NoteParts(reader, batch)
        for note in batch:
            line = {name: note[name] for name in ("line_type", "old_path", "new_path", "old_line", "new_line")}
            yield {**parts.note_row(note, "Commit"), "line": line if note["new_path"] else None}
        after = batch[-1]["id"]


def _releases(reader: RowReader, project_id: int) -> Iterator[Row]:
    for batch in reader.batches(releases, "project_id", project_id):
        ids = [release["id"] for release in batch]
        links = reader.children(release_links, "release_id", ids)
        joins = reader.children(release_milestones, "release_id", ids)
        stages = reader.by_ids(milestones, [join["milestone_id"] for group in joins.values() for join in group])
        for release in batch:
            columns = ("id", "tag", "description", "project_id", "author_id", "created_at", "name", "released_at")
            link_columns = ("id", "url", "name", "created_at", "filepath", "link_type")
            yield {
                **{name: release[name] for name in columns},
                "links": [{name: link[name] for name in link_columns} for link in links[release["id"]]],
                "milestone_releases": [
                    {"milestone": milestone_row(stages[join["milestone_id"]])} for join in joins[release["id"]]
                ],
            }


def _boards(reader: RowReader, project_id: int) -> Iterator[Row]:
    rows = reader.all_rows(boards, "project_id", project_id)
    lists = reader.children(board_lists, "board_id", [row["id"] for row in rows])
    used = [each["label_id"] for each in chain.from_iterable(lists.values()) if each["label_id"] is not None]
    known = labels_by_id(reader, project_id, used)
    columns = ("id", "name", "project_id", "group_id", "hide_backlog_list", "hide_closed_list")
    for row in rows:
        yield {
            **{name: row[name] for name in (*columns, "created_at", "updated_at")},
            "lists": [
                board_list_row(each, known[each["label_id"]])
                for each in lists[row["id"]]
                if each["label_id"] is not None
            ],
        }


def board_list_row(row: Row, label: Row) -> Row:
    """Return a list of a board for a label; those for assignees and milestones are not exported."""
    columns = {name: row[name] for name in ("id", "position", "created_at", "max_issue_count")}
    return {**columns, "updated_at": row["created_at"], "list_type": "label", "label": label}


def _protected_branches(reader: RowReader, project_id: int) -> Iterator[Row]:
    for row in reader.all_rows(protected_branches, "project_id", project_id):
        columns = ("id", "project_id", "name", "created_at", "allow_force_push")
        yield {
            **{name: row[name] for name in columns},
            "merge_access_levels": [{"access_level": row["merge_level"]}],
            "push_access_levels": [{"access_level": row["push_level"]}],
        }


def _protected_tags(reader: RowReader, project_id: int) -> Iterator[Row]:
    for row in reader.all_rows(protected_tags, "project_id", project_id):
        columns = {name: row[name] for name in ("id", "project_id", "name", "created_at")}
        yield {**columns, "create_access_levels": [{"access_level": row["create_level"]}]}


def _protected_environments(reader: RowReader, project_id: int) -> Iterator[Row]:
    for row in reader.all_rows(protected_environments, "project_id", project_id):
        entries = reader.all_rows(deploy_access_levels, "rule_id", row["id"])
        columns = ("access_level", "user_id", "group_id", "group_inheritance_type")
        levels = [{name: entry[name] for name in columns} for entry in entries]
        yield {
            **{name: row[name] for name in ("id", "project_id", "name", "created_at")},
            "deploy_access_levels": levels,
        }


def _schedules(reader: RowReader, project_id: int) -> Iterator[Row]:
    columns = ("id", "project_id", "owner_id", "description", "ref", "cron", "cron_timezone", "active")
    for row in reader.all_rows(pipeline_schedules, "project_id", project_id):
        yield {name: row[name] for name in (*columns, "created_at", "updated_at")}


def _badges(reader: RowReader, project_id: int) -> Iterator[Row]:
    for row in reader.all_rows(badges, "project_id", project_id):
        columns = ("id", "project_id", "name", "link_url", "image_url", "created_at")
        yield {**{name: row[name] for name in columns}, "type": "ProjectBadge"}


def _project_feature(reader: RowReader, project_id: int) -> Iterator[Row]:
    project = reader.by_ids(projects, [project_id])[project_id]
    private = _decode_options(project["options_document"]).get("private_features", [])
    row: Row = {"repository_access_level": _LEVELS[project["repository_access_level"]]}
    for name in _FEATURES:
        level = "private" if name in private else "enabled"
        enabled = project[_SWITCHES.get(name, f"{name}_enabled")]
        row[f"{name}_access_level"] = _LEVELS[level if enabled else "disabled"]
    yield row


def _issue_links(reader: RowReader, project_id: int) -> Iterator[Row]:
    rows = reader.rows(issue_links, _LINKS, project=project_id)
    ends = reader.by_ids(issues, [row[end] for row in rows for end in ("source_id", "target_id")])
    for row in rows:
        source, target = ends[row["source_id"]], ends[row["target_id"]]
        if target["project_id"] == project_id and source["deleted_at"] is None and target["deleted_at"] is None:
            columns = {name: row[name] for name in ("id", "link_type", "created_at", "updated_at")}
            yield {**columns, "source_iid": source["iid"], "target_iid": target["iid"]}
    rows = reader.rows(work_item_parents, _PARENTS, project=project_id)
    ends = reader.by_ids(issues, [row[end] for row in rows for end in ("parent_id", "issue_id")])
    for row in rows:
        parent, task = ends[row["parent_id"]], ends[row["issue_id"]]
        if task["project_id"] == project_id:
            yield {"id": row["id"], "link_type": PARENT, "source_iid": parent["iid"], "target_iid": task["iid"]}


def _hooks(reader: RowReader, project_id: int) -> Iterator[Row]:
    for row in reader.all_rows(hooks, "project_id", project_id):
        if row["kind"] == "project":
            yield {name: row[name] for name in (*HOOK_COLUMNS, *EVENT_FLAGS)}


def _deploy_keys(reader: RowReader, project_id: int) -> Iterator[Row]:
    rows = reader.all_rows(deploy_key_projects, "project_id", project_id)
    keys = reader.by_ids(ssh_keys, [row["key_id"] for row in rows])
    for row in rows:
        key = keys[row["key_id"]]
        yield {**{name: key[name] for name in ("id", "title", "key", "created_at")}, "can_push": row["can_push"]}


def user_rows(reader: RowReader, ids: set[int], *, with_emails: bool) -> Iterator[Row]:
    """Yield the users that the rows of an export refer to."""
    ordered = sorted(ids)
    for start in range(0, len(ordered), 500):
        for user in reader.by_ids(users, ordered[start : start + 500]).values():
            row = {name: user[name] for name in ("id", "username", "name", "public_email", "bot")}
            yield {**row, "email": user["email"]} if with_emails else row


RowSource = Callable[[RowReader, int], Iterator[Row]]
PROJECT_RELATIONS: Mapping[str, RowSource] = {
    "labels": _labels,
    "milestones": _milestones,
    "issues": issue_rows,
    "merge_requests": merge_request_rows,
    "snippets": snippet_rows,
    "releases": _releases,
    "project_members": lambda reader, project_id: member_rows(reader, "project", project_id),
    "commit_notes": _commit_notes,
    "ci_pipelines": pipeline_rows,
    "pipeline_schedules": _schedules,
    "protected_branches": _protected_branches,
    "protected_tags": _protected_tags,
    "protected_environments": _protected_environments,
    "project_feature": _project_feature,
    "project_badges": _badges,
    "boards": _boards,
    "issue_links": _issue_links,
    "hooks": _hooks,
    "deploy_keys": _deploy_keys,
}
"""Functions that yield the rows of each relation; the last three are not part of GitLab's format."""
USER_COLUMNS = frozenset(
    {
        "author_id",
        "user_id",
        "owner_id",
        "closed_by_id",
        "merge_user_id",
        "merged_by_id",
        "latest_closed_by_id",
        "resolved_by_id",
    }
)


def collect_users(value: Any, ids: set[int]) -> None:
    """Add the users that a row and those within it refer to."""
    if isinstance(value, dict):
        for name, part in value.items():
            if name in USER_COLUMNS:
                if part is not None:
                    ids.add(part)
            elif isinstance(part, (dict, list)):
                collect_users(part, ids)
    elif isinstance(value, list):
        for part in value:
            collect_users(part, ids)
