"""What a note on a line tells of that line, which only git knows."""

import hashlib

from ingot.git.core.repository import Repository
from ingot.git.diffs.diffs import FileDiff, diff_between
from ingot.git.diffs.line_positions import Side, line_position_or_none
from ingot.git.history.commits import commit_or_none, decode_text
from ingot.integrations.webhooks.payloads.parts import Payload


def complete_line(payload: Payload, repository: Repository) -> Payload:
    """Put in the code of the line and, of a commit's, the file's diff; nothing for a note that is on no line."""
    if payload["object_kind"] != "note" or not payload["object_attributes"]["position"]:
        return payload
    about = payload["object_attributes"]
    position = about["position"]
    change = _change(repository, about, position)
    if change is None:
        return payload
    told: Payload = {"line_code": _line_code(change, position)}
    if about["commit_id"]:
        told["st_diff"] = _diff(change)
    return {**payload, "object_attributes": {**about, **told}}


def _change(repository: Repository, about: Payload, position: Payload) -> FileDiff | None:
    """The file in the diff that the note was written on."""
    before, after = position.get("base_sha"), position.get("head_sha")
    if about["commit_id"]:
        commit = commit_or_none(repository, about["commit_id"])
        if commit is None:
            return None
        before, after = (commit.parents[0] if commit.parents else None), commit.oid
    if after is None:
        return None
    changes = diff_between(repository, before, after).changes
    return next((each for each in changes if decode_text(each.new_path) == position["new_path"]), None)


def _line_code(change: FileDiff, position: Payload) -> str | None:
    """The file's name as a digest, and how far both files have come at the line."""
    old, new = position["old_line"], position["new_line"]
    if old is None or new is None:
        side: Side = "old" if new is None else "new"
        place = line_position_or_none(change.diff, old if new is None else new, side)
        if place is None:
            return None
        old, new = place
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
