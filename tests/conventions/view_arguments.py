"""Expressions that the product passes to response structs by position, in the order of the fields that they fill."""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from ingot.accounts.keys.ports import KeyProject
from ingot.accounts.users.details import COMPUTED_DETAILS, PUBLIC_DETAILS, UserDetails
from ingot.activity.instance_statistics.queries import JobTotals, QueueBacklog
from ingot.activity.views import PushView
from ingot.collaboration.merge_requests.views import MergeRequestView
from ingot.core.api.views import View
from ingot.core.markup.tasks import TaskCounts
from ingot.notifications.params import EVENT_FLAGS
from ingot.projects.deploy_keys.views import DeployKeyView
from ingot.projects.groups.ports import StorageSizes
from ingot.projects.groups.views import GroupView
from ingot.projects.namespaces.group_options import INTERNAL_OPTIONS, PROTECTIONS_SHOWN, GroupOptions
from ingot.projects.projects.options import INTERNAL, ProjectOptions
from ingot.projects.projects.views import SimpleProjectView
from ingot.repositories.commits.views import CommitView
from tests.conventions.source_files import ROOT

_CALL = re.compile(r"(?:View|Brief|Payload)\(")
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def _fields(struct: Any, without: Iterable[str] = ()) -> tuple[str, ...]:
    names: tuple[str, ...] = struct._fields if issubclass(struct, tuple) else struct.__struct_fields__
    return tuple(name for name in names if name not in without)


_TOKEN = "token", "token_expires_at"
_STARRED: dict[tuple[str, str], tuple[str, ...]] = {
    ("AdminUserView", "shown_user_details(user.details_document)"): _fields(
        UserDetails, (*COMPUTED_DETAILS, *PUBLIC_DETAILS)
    ),
    ("AssociationsCountView", "queries.associations_of_user(call.db, user.id)"): (
        "groups",
        "joined_projects",
        "created_issues",
        "created_merge_requests",
    ),
    ("CommandsView", "note_commands.execute(call, params, commands)"): ("commands_changes", "summary"),
    ("CommandsView", "stage.database.write(execute)"): ("commands_changes", "summary"),
    ("CommitDetailView", "more"): ("project_id", "status", "last_pipeline", "stats"),
    ("CommitView", "more"): (),
    ("CustomAttributeView", "pair"): ("key", "value"),
    ("DeployKeyProjectView", "project"): _fields(KeyProject),
    ("FoundCommitView", "msgspec.structs.astuple(commit_view(commit, project_url))"): _fields(CommitView),
    ("GroupDetailView", "(getattr(brief, name) for name in GroupView.__struct_fields__)"): _fields(GroupView),
    ("GroupStatisticsView", "used"): _fields(StorageSizes),
    ("GroupView", "shown_group_options(group.options_document)"): _fields(
        GroupOptions, (*PROTECTIONS_SHOWN, *INTERNAL_OPTIONS)
    ),
    ("InstanceDeployKeyView", "msgspec.structs.astuple(shown)"): _fields(DeployKeyView),
    ("JobTotalsView", "queries.job_totals(call.db)"): _fields(JobTotals),
    ("ListedCommitView", "more"): ("stats",),
    ("MembershipLevelView", "levels"): ("access_level", "notification_level"),
    ("NotificationEventsView", "(flags.get(name, name in ON_BY_DEFAULT) for name in EVENT_FLAGS)"): EVENT_FLAGS,
    ("ProjectOfDeployKeyView", "brief"): _fields(SimpleProjectView),
    ("ProjectView", "shown_options(project.options_document)"): _fields(ProjectOptions, INTERNAL),
    ("PushView", "(getattr(push, name) for name in PushView.__struct_fields__)"): _fields(PushView),
    ("QueueBacklogView", "backlog"): _fields(QueueBacklog),
    ("ResetTokenView", "service.reset_runner_token(call.db, runner)"): _TOKEN,
    ("ResetTokenView", "service.reset_runner_token(call.db, authenticated_runner(call.db, params.token))"): _TOKEN,
    ("ScheduleInputView", "each"): ("name", "value"),
    ("SubscribedMergeRequestView", "astuple(views[merge_request_id])"): _fields(MergeRequestView),
    ("TaskCompletionView", "counts"): _fields(TaskCounts),
}
"""Names of the values of starred arguments that are not tuples in the same module, by the struct and the argument."""


class ViewCall(NamedTuple):
    """Call of a response struct with arguments by position."""

    place: str
    """Module and function."""
    view: type[View]
    arguments: list[ast.expr]
    """Those of a starred tuple separately."""
    typed: bool
    """Whether mypy compares the types, which it does not for starred arguments."""

    def pairs(self) -> Iterator[tuple[tuple[str, ast.expr], tuple[str, ast.expr]]]:
        """Yield each pair of different arguments with their fields, unless mypy notices if they are exchanged."""
        filled = list(zip(self.view.__struct_fields__, self.arguments, strict=False))
        types = self.view.__annotations__
        for index, one in enumerate(filled):
            for other in filled[index + 1 :]:
                typed_alike = not self.typed or types.get(one[0]) == types.get(other[0])
                if typed_alike and ast.dump(one[1]) != ast.dump(other[1]):
                    yield one, other


@cache
def view_calls() -> list[ViewCall]:
    """Return all such calls of the product."""
    paths = [path for path in sorted((ROOT / "ingot").rglob("*.py")) if _CALL.search(path.read_text())]
    return [call for path in paths for call in _calls_in(path, ast.parse(path.read_text()))]


def _calls_in(path: Path, tree: ast.Module) -> Iterator[ViewCall]:
    functions = {node.name: node for node in ast.walk(tree) if isinstance(node, _Function)}
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    module = import_module(name)
    for function in functions.values():
        for node in ast.walk(function):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
                view = getattr(module, node.func.id, None)
                if isinstance(view, type) and issubclass(view, View):
                    arguments = list(_separate_arguments(view.__name__, node.args, function, functions))
                    typed = not any(isinstance(argument, ast.Starred) for argument in node.args)
                    yield ViewCall(f"{name}:{function.name}", view, arguments, typed)


def _separate_arguments(
    view: str, passed: Sequence[ast.expr], function: _Function, functions: Mapping[str, _Function]
) -> Iterator[ast.expr]:
    """Yield the arguments with those of starred tuples; other starred arguments stay if ``_STARRED`` lacks them."""
    for argument in passed:
        if not isinstance(argument, ast.Starred):
            yield argument
            continue
        value, origin = _origin(argument.value, function, functions)
        texts = ast.unparse(argument.value), ast.unparse(value)
        names = next((_STARRED[view, text] for text in texts if (view, text) in _STARRED), None)
        if names is not None:
            yield from (ast.Name(name) for name in names)
        elif isinstance(value, ast.Tuple):
            yield from _separate_arguments(view, value.elts, origin, functions)
        else:
            yield argument


def _origin(value: ast.expr, function: _Function, functions: Mapping[str, _Function]) -> tuple[ast.expr, _Function]:
    """Return the expression that a variable or the result of a function of the module stands for, and its function."""
    if isinstance(value, ast.Name):
        assigned = [
            node.value
            for node in ast.walk(function)
            if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == [value.id]
        ]
        value = assigned[0] if len(assigned) == 1 and isinstance(assigned[0], ast.Tuple | ast.Call) else value
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in functions:
        called = functions[value.func.id]
        # An earlier one may be that of a record which does not exist.
        last = max((node for node in ast.walk(called) if isinstance(node, ast.Return)), key=lambda node: node.lineno)
        if isinstance(last.value, ast.Tuple):
            return last.value, called
    return value, function


def fit(argument: ast.expr, field: str) -> float:
    """Return how well the names in an expression fit the name of a field, from 0 to 3."""
    names = [_name(node) for node in ast.walk(argument)]
    if names[0] == field:
        return 3.0
    if field in names:
        return 2.0
    words = {word for name in names for word in name.split("_") if word}
    expected = {*field.split("_")}
    return len(words & expected) / len(words | expected)


def _name(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Name):
        return node.id
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
