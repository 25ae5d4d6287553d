"""Storage of deploy keys."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import select

from ingot.accounts.keys.service import MAX_LENGTH
from ingot.accounts.keys.ssh_format import PublicKey, parse_public_key
from ingot.accounts.keys.tables import ssh_keys
from ingot.core.db.expressions import in_list
from ingot.core.errors import Invalid
from ingot.import_export.records import DeployKeyRecord
from ingot.import_export.target.context import Change, StoreContext, StoredIds
from ingot.import_export.target.rows import insert_rows, moment, rows_by_values, update_rows
from ingot.import_export.target.text import limited
from ingot.projects.deploy_keys.tables import deploy_key_projects

_BY_FINGERPRINTS = select(ssh_keys.c.fingerprint_sha256, ssh_keys.c.id).where(
    in_list(ssh_keys.c.fingerprint_sha256, "fingerprints")
)


def store_deploy_keys(context: StoreContext, changes: Sequence[Change]) -> StoredIds:
    """Store deploy keys; a key that another project or a user has is refused: its owner decides where it is valid."""
    db = context.db
    keys = {change.key: _parsed(context, change.record) for change in changes}
    fingerprints = [key.fingerprint_sha256 for key in keys.values() if key]
    taken: dict[str, int] = dict(db.rows(_BY_FINGERPRINTS, fingerprints=fingerprints)) if fingerprints else {}
    owner = ("project_id", context.project.id)
    own = rows_by_values(db, deploy_key_projects, owner, "key_id", set(taken.values()), "id")
    ids: dict[str, int | None] = {}
    inserted: dict[str, tuple[str, dict[str, Any]]] = {}
    for change in changes:
        key = keys[change.key]
        key_id = taken.get(key.fingerprint_sha256) if key else None
        if key is None or key.fingerprint_sha256 in inserted:
            ids[change.key] = None
        elif key_id is None:
            inserted[key.fingerprint_sha256] = change.key, _columns(context, change.record, key)
        elif key_id in own:
            ids[change.key] = key_id
        else:
            ids[change.key] = None
            context.problem(
                f"The deploy key {change.record.title!r} was omitted, because it is used elsewhere already."
            )
    stored = [(change, ids[change.key]) for change in changes if ids.get(change.key)]
    update_rows(
        db,
        deploy_key_projects,
        [(own[key_id][0], {"can_push": change.record.can_push}) for change, key_id in stored if key_id],
    )
    return ids | _insert(context, inserted, {change.key: change.record.can_push for change in changes})


def _parsed(context: StoreContext, record: DeployKeyRecord) -> PublicKey | None:
    try:
        return parse_public_key(record.public_key)
    except Invalid as error:
        context.problem(f"The deploy key {record.title!r} was omitted: {error}.")
        return None


def _columns(context: StoreContext, record: DeployKeyRecord, key: PublicKey) -> dict[str, Any]:
    return {
        "user_id": None,
        "title": limited(record.title, MAX_LENGTH) or "Deploy key",
        "key": key.line,
        "kind": key.kind,
        "bits": key.bits,
        "fingerprint_sha256": key.fingerprint_sha256,
        "fingerprint_md5": key.fingerprint_md5,
        "created_at": moment(record.created_at, context.db.now),
        "expires_at": None,
    }


def _insert(
    context: StoreContext, inserted: dict[str, tuple[str, dict[str, Any]]], can_push: dict[str, bool]
) -> dict[str, int]:
    keys = [key for key, _ in inserted.values()]
    new_ids = insert_rows(context.db, ssh_keys, [columns for _, columns in inserted.values()])
    fixed = {"project_id": context.project.id, "creator_id": context.importer_id, "created_at": context.db.now}
    rows = [{**fixed, "key_id": key_id, "can_push": can_push[key]} for key, key_id in zip(keys, new_ids, strict=True)]
    context.db.insert_many(deploy_key_projects, rows)
    return dict(zip(keys, new_ids, strict=True))
