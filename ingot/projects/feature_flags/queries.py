"""Queries of feature flags, their strategies, and lists of users."""

import hmac
from collections import defaultdict
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import bindparam, func, select

from ingot.core.db.connection import Connection
from ingot.core.db.expressions import contains, in_list, like_pattern
from ingot.core.db.paging import Listing, ListQuery, Page, fetch_page, list_query
from ingot.core.errors import NotFound, Unauthenticated
from ingot.projects.feature_flags.params import ListFeatureFlags, ListUserLists
from ingot.projects.feature_flags.tables import (
    FlagScope,
    FlagSettings,
    FlagStrategy,
    ProjectFlag,
    UserList,
    feature_flag_scopes,
    feature_flag_settings,
    feature_flag_strategies,
    feature_flag_user_lists,
    project_flags,
)
from ingot.projects.projects.queries import project_or_none
from ingot.projects.projects.tables import Project

_IN_PROJECT = project_flags.c.project_id == bindparam("project")
_CONDITIONS = {"enabled": project_flags.c.active, "disabled": project_flags.c.active.is_(False)}
_BY_NAME = select(project_flags).where(_IN_PROJECT, project_flags.c.name == bindparam("name"))
_ALL_FLAGS = select(project_flags).where(_IN_PROJECT).order_by(project_flags.c.id)
_COUNT_FLAGS = select(func.count()).select_from(project_flags).where(_IN_PROJECT)
_STRATEGIES = (
    select(feature_flag_strategies)
    .where(in_list(feature_flag_strategies.c.flag_id, "flags"))
    .order_by(feature_flag_strategies.c.id)
)
_SCOPES = (
    select(feature_flag_scopes)
    .where(in_list(feature_flag_scopes.c.strategy_id, "strategies"))
    .order_by(feature_flag_scopes.c.id)
)
_OF_PROJECT = select(feature_flag_user_lists).where(feature_flag_user_lists.c.project_id == bindparam("project"))
_LIST_BY_IID = _OF_PROJECT.where(feature_flag_user_lists.c.iid == bindparam("iid"))
_LIST_BY_ID = _OF_PROJECT.where(feature_flag_user_lists.c.id == bindparam("list"))
_LIST_BY_NAME = _OF_PROJECT.where(feature_flag_user_lists.c.name == bindparam("name"))
_LISTS = select(feature_flag_user_lists).where(in_list(feature_flag_user_lists.c.id, "lists"))
_COUNT_LISTS = (
    select(func.count())
    .select_from(feature_flag_user_lists)
    .where(feature_flag_user_lists.c.project_id == bindparam("project"))
)
_IN_USE = (
    select(feature_flag_strategies.c.id).where(feature_flag_strategies.c.user_list_id == bindparam("list")).limit(1)
)
_SETTINGS = select(feature_flag_settings).where(feature_flag_settings.c.project_id == bindparam("project"))


class FlagDetails(NamedTuple):
    """Strategies of several flags, with their scopes and lists of users."""

    strategies: dict[int, list[FlagStrategy]]
    """By flag."""
    scopes: dict[int, list[FlagScope]]
    """By strategy."""
    user_lists: dict[int, UserList]


@lru_cache(maxsize=4)
def _list_query(scope: str) -> ListQuery:
    matching = select(project_flags).where(_IN_PROJECT)
    if scope:
        matching = matching.where(_CONDITIONS[scope])
    return list_query(matching, project_flags.c.id, project_flags.c.name.asc())


@lru_cache(maxsize=2)
def _user_list_query(*, search: bool) -> ListQuery:
    matching = _OF_PROJECT
    if search:
        matching = matching.where(contains(func.lower(feature_flag_user_lists.c.name), "pattern"))
    return list_query(matching, feature_flag_user_lists.c.id, feature_flag_user_lists.c.iid.asc())


def list_feature_flags(db: Connection, project: Project, params: ListFeatureFlags, page: Page) -> Listing[ProjectFlag]:
    """List the flags of a project by name."""
    return fetch_page(db, ProjectFlag, _list_query(params.scope or ""), page, project=project.id)


def feature_flag_or_none(db: Connection, project: Project, name: str) -> ProjectFlag | None:
    """Return the flag of a project with this name."""
    return db.first(ProjectFlag, _BY_NAME, project=project.id, name=name)


def find_feature_flag(db: Connection, project: Project, name: str) -> ProjectFlag:
    """Return the flag of a project with this name; raise NotFound if there is none."""
    flag = feature_flag_or_none(db, project, name)
    if flag is None:
        raise NotFound("Feature Flag")
    return flag


def count_feature_flags(db: Connection, project: Project) -> int:
    """Return the number of flags of a project."""
    count: int = db.value(_COUNT_FLAGS, project=project.id)
    return count


def flag_details(db: Connection, flags: list[ProjectFlag]) -> FlagDetails:
    """Return the strategies of flags; three statements for any number of flags."""
    if not flags:
        return FlagDetails({}, {}, {})
    strategies: defaultdict[int, list[FlagStrategy]] = defaultdict(list)
    for strategy in db.all(FlagStrategy, _STRATEGIES, flags=[flag.id for flag in flags]):
        strategies[strategy.flag_id].append(strategy)
    every = [strategy for of_flag in strategies.values() for strategy in of_flag]
    scopes: defaultdict[int, list[FlagScope]] = defaultdict(list)
    for scope in db.all(FlagScope, _SCOPES, strategies=[strategy.id for strategy in every]):
        scopes[scope.strategy_id].append(scope)
    ids = sorted({strategy.user_list_id for strategy in every if strategy.user_list_id is not None})
    return FlagDetails(strategies, scopes, {each.id: each for each in db.all(UserList, _LISTS, lists=ids)})


def list_user_lists(db: Connection, project: Project, params: ListUserLists, page: Page) -> Listing[UserList]:
    """List the lists of users of a project."""
    values: dict[str, Any] = {"project": project.id}
    if params.search:
        values["pattern"] = like_pattern(params.search)
    return fetch_page(db, UserList, _user_list_query(search=bool(params.search)), page, **values)


def user_list_or_none(db: Connection, project: Project, iid: int) -> UserList | None:
    """Return a list of users by its number in the project."""
    return db.first(UserList, _LIST_BY_IID, project=project.id, iid=iid)


def find_user_list(db: Connection, project: Project, iid: int) -> UserList:
    """Return a list of users by its number in the project; raise NotFound if there is none."""
    user_list = user_list_or_none(db, project, iid)
    if user_list is None:
        raise NotFound("User List")
    return user_list


def user_list_by_id_or_none(db: Connection, project_id: int, list_id: int) -> UserList | None:
    """Return a list of users of a project by its id."""
    return db.first(UserList, _LIST_BY_ID, project=project_id, list=list_id)


def user_list_by_name_or_none(db: Connection, project: Project, name: str) -> UserList | None:
    """Return a list of users of a project by its name."""
    return db.first(UserList, _LIST_BY_NAME, project=project.id, name=name)


def count_user_lists(db: Connection, project: Project) -> int:
    """Return the number of lists of a project."""
    count: int = db.value(_COUNT_LISTS, project=project.id)
    return count


def is_used(db: Connection, user_list: UserList) -> bool:
    """Return whether a strategy uses a list."""
    return db.value(_IN_USE, list=user_list.id) is not None


def settings_or_none(db: Connection, project_id: int) -> FlagSettings | None:
    """Return the settings of a project, if any were written."""
    return db.first(FlagSettings, _SETTINGS, project=project_id)


def instance_id(db: Connection, project_id: int) -> str:
    """Return the secret with which the applications of a project authenticate."""
    settings = settings_or_none(db, project_id)
    version = 0 if settings is None else settings.client_version
    return "ingotu-" + db.vault.derive("feature flags client", f"{project_id} {version}".encode())[:40]


def authenticate_client(db: Connection, project_id: int | None, secret: str) -> int:
    """Return the id of the project whose applications use this secret; raise Unauthenticated otherwise."""
    project = None if project_id is None else project_or_none(db, project_id)
    if project is None or project.namespace_id is None:
        raise Unauthenticated
    if not hmac.compare_digest(secret.encode("utf-8", "replace"), instance_id(db, project.id).encode()):
        raise Unauthenticated
    return project.id


def flags_of_project(db: Connection, project_id: int) -> list[ProjectFlag]:
    """Return all flags of a project; their number is limited."""
    return db.all(ProjectFlag, _ALL_FLAGS, project=project_id)


def is_in_scope(scope: FlagScope, environment: str) -> bool:
    """Return whether a scope includes an environment; ``*`` stands for any text."""
    first, *others = scope.environment_scope.split("*")
    if not others:
        return environment == first
    last, end = others.pop(), len(first)
    for part in others:
        position = environment.find(part, end)
        if position < 0:
            return False
        end = position + len(part)
    return environment.startswith(first) and environment.endswith(last) and len(environment) - len(last) >= end
