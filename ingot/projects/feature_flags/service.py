"""State changes of feature flags and lists of users."""

import re
from typing import Any

import msgspec
from msgspec import UNSET
from sqlalchemy import text

from ingot.core.api.params import given_fields
from ingot.core.db.connection import Connection
from ingot.core.errors import Conflict, Invalid, too_long_message
from ingot.projects.feature_flags import queries
from ingot.projects.feature_flags.params import (
    CreateFeatureFlag,
    CreateUserList,
    EditFeatureFlag,
    EditUserList,
    FlagScopeParams,
    FlagStrategyParams,
)
from ingot.projects.feature_flags.strategies import USER_LIST, parameter_error, user_ids_error
from ingot.projects.feature_flags.tables import (
    FlagScope,
    FlagStrategy,
    ProjectFlag,
    UserList,
    feature_flag_scopes,
    feature_flag_strategies,
    feature_flag_user_lists,
    project_flags,
)
from ingot.projects.projects.tables import Project

MAX_LENGTH = 255
MAX_FLAGS = 200
MAX_LISTS = 200
MAX_STRATEGIES = 50
MAX_SCOPES = 50
MAX_LIST_LENGTH = 500_000
_NAME = re.compile(r"[a-z]([-_a-z0-9]*[a-z0-9])?")
_NAME_LENGTHS = (2, 63)
_NAME_FORMAT = (
    "can contain only lowercase letters, digits, '_' and '-'. Must start with a letter, and cannot end with '-' or '_'"
)
# One statement each: the row stays locked until the transaction ends, so concurrent callers get different numbers.
_NEXT_IID = text(
    "INSERT INTO feature_flag_settings (project_id, client_version, last_list_iid) VALUES (:project, 0, 1) "
    "ON CONFLICT (project_id) DO UPDATE SET last_list_iid = feature_flag_settings.last_list_iid + 1 "
    "RETURNING last_list_iid"
)
_RESET_CLIENT = text(
    "INSERT INTO feature_flag_settings (project_id, client_version, last_list_iid) VALUES (:project, 1, 0) "
    "ON CONFLICT (project_id) DO UPDATE SET client_version = feature_flag_settings.client_version + 1 "
    "RETURNING client_version"
)


def create_feature_flag(db: Connection, project: Project, params: CreateFeatureFlag) -> ProjectFlag:
    """Create a flag with its strategies; raise Invalid for invalid fields."""
    _validate(db, project, params.name, params.description)
    if queries.count_feature_flags(db, project) >= MAX_FLAGS:
        raise Invalid(f"A project has {MAX_FLAGS} feature flags at most")
    flag_id = db.insert(
        project_flags,
        project_id=project.id,
        name=params.name,
        description=params.description,
        active=params.active,
        created_at=db.now,
        updated_at=db.now,
    )
    flag = queries.find_feature_flag(db, project, params.name)
    _write_strategies(db, flag, params.strategies or [])
    assert flag.id == flag_id  # noqa: S101 - It was just inserted in this transaction.
    return flag


def edit_feature_flag(db: Connection, project: Project, flag: ProjectFlag, params: EditFeatureFlag) -> ProjectFlag:
    """Change a flag; strategies without an id are added, and those with an id are changed or deleted."""
    columns = given_fields(params, "strategies")
    name = columns.get("name", flag.name)
    _validate(db, project, name, columns.get("description"), flag.id)
    _write_strategies(db, flag, params.strategies or [])
    db.update(project_flags, flag.id, **columns, updated_at=db.now)
    return queries.find_feature_flag(db, project, name)


def delete_feature_flag(db: Connection, flag: ProjectFlag) -> None:
    """Delete a flag."""
    db.delete(project_flags, flag.id)


def _validate(db: Connection, project: Project, name: str, description: str | None, except_id: int = 0) -> None:
    errors: dict[str, list[str]] = {}
    shortest, longest = _NAME_LENGTHS
    if len(name) < shortest:
        errors["name"] = [f"is too short (minimum is {shortest} characters)"]
    elif len(name) > longest:
        errors["name"] = [too_long_message(longest)]
    elif not _NAME.fullmatch(name):
        errors["name"] = [_NAME_FORMAT]
    else:
        existing = queries.feature_flag_or_none(db, project, name)
        if existing is not None and existing.id != except_id:
            errors["name"] = ["has already been taken"]
    if description is not None and len(description) > MAX_LENGTH:
        errors["description"] = [too_long_message(MAX_LENGTH)]
    if errors:
        raise Invalid(**errors)


def _write_strategies(db: Connection, flag: ProjectFlag, sent: list[FlagStrategyParams]) -> None:
    details = queries.flag_details(db, [flag])
    existing = {strategy.id: strategy for strategy in details.strategies.get(flag.id, [])}
    for params in sent:
        before = None if params.id is None else existing.get(params.id)
        if params.id is not None and before is None:
            raise Invalid(strategies=["must belong to the feature flag"])
        if params.destroy:
            if before is not None:
                db.delete(feature_flag_strategies, before.id)
                del existing[before.id]
            continue
        strategy = _write_strategy(db, flag, before, params)
        existing[strategy.id] = strategy
        if len(existing) > MAX_STRATEGIES:
            raise Invalid(strategies=[too_long_message(MAX_STRATEGIES, "strategies")])
        _write_scopes(db, strategy, details.scopes.get(strategy.id, []), params.scopes or [])


def _write_strategy(
    db: Connection, flag: ProjectFlag, before: FlagStrategy | None, params: FlagStrategyParams
) -> FlagStrategy:
    name = params.name or (before.name if before is not None else "")
    kept = msgspec.json.decode(before.parameters) if before is not None and name == before.name else {}
    parameters: dict[str, Any] = kept if params.parameters is UNSET else params.parameters
    error = parameter_error(name, parameters)
    if error is not None:
        raise Invalid(strategies=[error])
    list_id = params.user_list_id or (before.user_list_id if before is not None and name == before.name else None)
    if (name == USER_LIST) != (list_id is not None):
        raise Invalid(strategies=["a user list must be given for gitlabUserList, and only for it"])
    if list_id is not None and queries.user_list_by_id_or_none(db, flag.project_id, list_id) is None:
        raise Invalid(strategies=["user list must belong to the same project"])
    encoded = msgspec.json.encode(parameters).decode()
    columns = {"name": name, "parameters": encoded, "user_list_id": list_id}
    if before is None:
        row_id = db.insert(feature_flag_strategies, flag_id=flag.id, **columns)
    else:
        row_id = before.id
        db.update(feature_flag_strategies, row_id, **columns)
    return FlagStrategy(row_id, flag.id, name, encoded, list_id)


def _write_scopes(db: Connection, strategy: FlagStrategy, scopes: list[FlagScope], sent: list[FlagScopeParams]) -> None:
    existing = {scope.id: scope.environment_scope for scope in scopes}
    for params in sent:
        if params.id is not None and params.id not in existing:
            raise Invalid(strategies=["scopes must belong to the strategy"])
        if params.destroy:
            if params.id is not None:
                db.delete(feature_flag_scopes, params.id)
                del existing[params.id]
            continue
        name = params.environment_scope or (existing[params.id] if params.id is not None else "")
        if not name.strip() or len(name) > MAX_LENGTH:
            raise Invalid(strategies=["environment scope is invalid"])
        if name in (each for scope_id, each in existing.items() if scope_id != params.id):
            raise Invalid(strategies=["environment scope has already been taken"])
        if params.id is None:
            scope_id = db.insert(feature_flag_scopes, strategy_id=strategy.id, environment_scope=name)
        else:
            scope_id = params.id
            db.update(feature_flag_scopes, scope_id, environment_scope=name)
        existing[scope_id] = name
        if len(existing) > MAX_SCOPES:
            raise Invalid(strategies=[too_long_message(MAX_SCOPES, "scopes")])


def create_user_list(db: Connection, project: Project, params: CreateUserList) -> UserList:
    """Create a list of users; raise Invalid for invalid fields."""
    _validate_list(db, project, params.name, params.user_xids)
    if queries.count_user_lists(db, project) >= MAX_LISTS:
        raise Invalid(f"A project has {MAX_LISTS} user lists at most")
    iid: int = db.value(_NEXT_IID, project=project.id)
    db.insert_row(
        feature_flag_user_lists,
        project_id=project.id,
        iid=iid,
        name=params.name,
        user_xids=params.user_xids,
        created_at=db.now,
        updated_at=db.now,
    )
    return queries.find_user_list(db, project, iid)


def edit_user_list(db: Connection, project: Project, user_list: UserList, params: EditUserList) -> UserList:
    """Change a list of users."""
    columns = given_fields(params)
    name, user_xids = columns.get("name", user_list.name), columns.get("user_xids", user_list.user_xids)
    _validate_list(db, project, name, user_xids, user_list.id)
    db.update(feature_flag_user_lists, user_list.id, **columns, updated_at=db.now)
    return queries.find_user_list(db, project, user_list.iid)


def delete_user_list(db: Connection, user_list: UserList) -> None:
    """Delete a list of users; raise Conflict if a strategy uses it."""
    if queries.is_used(db, user_list):
        raise Conflict("User list is associated with a strategy")
    db.delete(feature_flag_user_lists, user_list.id)


def reset_instance_id(db: Connection, project_id: int) -> None:
    """Replace the secret of the applications; the previous one stops working at once."""
    db.value(_RESET_CLIENT, project=project_id)


def _validate_list(db: Connection, project: Project, name: str, user_xids: str, except_id: int = 0) -> None:
    errors: dict[str, list[str]] = {}
    existing = queries.user_list_by_name_or_none(db, project, name)
    if not name.strip():
        errors["name"] = ["can't be blank"]
    elif len(name) > MAX_LENGTH:
        errors["name"] = [too_long_message(MAX_LENGTH)]
    elif existing is not None and existing.id != except_id:
        errors["name"] = ["has already been taken"]
    error = user_ids_error(user_xids)
    if len(user_xids) > MAX_LIST_LENGTH:
        error = too_long_message(MAX_LIST_LENGTH)
    if error is not None:
        errors["user_xids"] = [error]
    if errors:
        raise Invalid(**errors)
