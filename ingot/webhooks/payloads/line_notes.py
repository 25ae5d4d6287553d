"""Completion of notes on diff lines with data from git."""

import hashlib

from ingot.git.core.repository import Repository
from ingot.git.diffs.diffs import FileDiff, diff_between
from ingot.git.diffs.line_positions import Side, line_position_or_none
from ingot.git.history.commits import commit_or_none, decode_text
from ingot.webhooks.payloads.parts import Payload


def complete_line(payload: Payload, repository: Repository) -> Payload:
    """Add the line code and, for a commit, the file's diff to a note on a line; return other payloads unchanged."""
    if payload["object_kind"] != "note" or not payload["object_attributes"]["position"]:
        return payload
    note = payload["object_attributes"]
    position = note["position"]
    change = _change(repository, note, position)
    if change is None:
        return payload
    line_data: Payload = {"line_code": _line_code(change, position)}
    if note["commit_id"]:
        line_data["st_diff"] = _diff(change)
    return {**payload, "object_attributes": {**note, **line_data}}


def _change(repository: Repository, note: Payload, position: Payload) -> FileDiff | None:
    """Return the file in the diff that the note was written on."""
    before, after = position.get("base_sha"), position.get("head_sha")
    if note["commit_id"]:
        commit = commit_or_none(repository, note["commit_id"])
        if commit is None:
            return None
        before, after = (commit.parents[0] if commit.parents else None), commit.oid
    if after is None:
        return None
    changes = diff_between(repository, before, after).changes
    return next((each for each in changes if decode_text(each.new_path) == position["new_path"]), None)


def _line_code(change: FileDiff, position: Payload) -> str | None:
    """Return the line code: a digest of the path and the line numbers in the old and new file."""
    old, new = position["old_line"], position["new_line"]
    if old is None or new is None:
        side: Side = "old" if new is None else "new"
        line_numbers = line_position_or_none(change.diff, old if new is None else new, side)
        if line_numbers is None:
            return None
        old, new = line_numbers
    name = hashlib.sha1(change.new_path, usedforsecurity=False).hexdigest()
    return f"{name}_{old}_{new}"


def _diff(change: FileDiff) -> Payload:
    return {
        "diff": change.diff,
        "new_path": decode_text(change.new_path),
        "old_path": decode_text(change.old_path),
        "a_mode": change.a_mode,
        "b_mode": change.b_mode,
        "new_file": change.new_file,
        "renamed_file": change.renamed_file,
        "deleted_file": change.deleted_file,
    }
