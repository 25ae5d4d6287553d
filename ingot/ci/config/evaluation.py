"""Evaluation of rules and of ``only`` and ``except`` for one pipeline."""

from collections import ChainMap
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Protocol, cast

from ingot.ci.config.errors import ConfigError
from ingot.ci.config.expressions import InvalidExpression, parse_expression
from ingot.ci.config.globs import matches_any
from ingot.ci.config.patterns import is_pattern, pattern_matcher, split_project
from ingot.ci.config.plan import ConfigVariable, RefPolicy, Rule
from ingot.ci.config.variables import ExpandedVariables, expand_text

_SOURCES = {
    "pushes": "push",
    "web": "web",
    "triggers": "trigger",
    "schedules": "schedule",
    "api": "api",
    "external": "external",
    "pipelines": "pipeline",
    "merge_requests": "merge_request_event",
    "external_pull_requests": "external_pull_request_event",
    "chat": "chat",
}
_DEFAULT_REFS = ("branches", "tags")
MAX_WORK = 20_000_000
"""Maximum number of characters that the rules of a configuration compare; a second or two of time."""
_WORK_OF_PATH = 4
"""Path patterns are searched faster than the slowest expressions."""


class RuleContext(Protocol):
    """The pipeline that rules are evaluated for."""

    @property
    def ref(self) -> str:
        """Short name of the branch or tag; of the source branch for a merge request."""
        ...

    @property
    def is_tag(self) -> bool:
        """Whether the ref is a tag."""
        ...

    @property
    def source(self) -> str:
        """Source of the pipeline, such as ``push`` or ``merge_request_event``."""
        ...

    @property
    def project_path(self) -> str:
        """Full path of the project."""
        ...

    @property
    def variables(self) -> Mapping[str, str]:
        """Variables that are not from the file; they have precedence over it."""
        ...

    def changed_paths(self, compare_to: str | None) -> Collection[str] | None:
        """Return the changed paths; None if everything counts as changed."""
        ...

    def file_paths(self, project: str | None = None, ref: str | None = None) -> Collection[str]:
        """Return the paths of all files of the commit, or of another project; raise ConfigError if it is hidden."""
        ...


class _Work:
    """Work of all rules of a configuration, which may contain many expressions with long values."""

    def __init__(self) -> None:
        self._left = MAX_WORK

    def add(self, amount: int) -> None:
        """Count work; raise ConfigError if there is too much."""
        self._left -= amount
        if self._left < 0:
            raise ConfigError("The rules of the configuration take too long to evaluate")


class _CountedVariables(Mapping[str, str]):
    """Variables whose length counts as work whenever one is read."""

    def __init__(self, variables: Mapping[str, str], work: _Work) -> None:
        self._variables = variables
        self._work = work

    def __getitem__(self, name: str) -> str:
        value = self._variables[name]
        self._work.add(len(value))
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self._variables)

    def __len__(self) -> int:
        return len(self._variables)


class RuleScope:
    """The context of a pipeline with the variables of a job, for the rules of that job.

    Scopes that are made from each other share the results of path patterns, which many jobs have in common, and the
    limit of work.
    """

    def __init__(
        self,
        context: RuleContext,
        variables: Mapping[str, ConfigVariable],
        path_results: dict[tuple[str, ...], bool] | None = None,
        work: _Work | None = None,
    ) -> None:
        self._context = context
        self._file_variables = variables
        self._path_results: dict[tuple[str, ...], bool] = {} if path_results is None else path_results
        self._work = work or _Work()

    def with_variables(self, variables: Mapping[str, ConfigVariable]) -> "RuleScope":
        """Return the scope of a job."""
        same = variables is self._file_variables
        return self if same else RuleScope(self._context, variables, self._path_results, self._work)

    @cached_property
    def variables(self) -> Mapping[str, str]:
        """All variables, with references to other variables expanded."""
        given = self._context.variables
        raw = {name for name, variable in self._file_variables.items() if variable.raw and name not in given}
        values = {name: variable.value for name, variable in self._file_variables.items()}
        # The variables of the context are not copied: a caller may want to know whether any is read.
        return ExpandedVariables(ChainMap(cast("dict[str, str]", given), values), raw)

    def first_match(self, rules: Sequence[Rule]) -> Rule | None:
        """Return the first rule whose conditions all hold."""
        return next((rule for rule in rules if self._holds(rule)), None)

    def _holds(self, rule: Rule) -> bool:
        if rule.condition is not None and not self._evaluate(rule.condition):
            return False
        if rule.changes is not None and not self._has_changed(rule.changes, rule.compare_to):
            return False
        return rule.exists is None or self._has_file(rule.exists, rule.exists_project, rule.exists_ref)

    def _evaluate(self, condition: str) -> bool:
        self._work.add(len(condition))
        return evaluate(condition, _CountedVariables(self.variables, self._work))

    def _matches_paths(self, patterns: Sequence[str], paths: Collection[str]) -> bool:
        self._work.add(_WORK_OF_PATH * len(paths))
        return matches_any(patterns, paths)

    def _expanded(self, patterns: Sequence[str]) -> tuple[str, ...]:
        return tuple(expand_text(pattern, self.variables, keep_unknown=True) for pattern in patterns)

    def _expanded_or_none(self, text: str | None) -> str | None:
        return None if text is None else expand_text(text, self.variables, keep_unknown=True)

    def _has_changed(self, patterns: Sequence[str], compare_to: str | None = None) -> bool:
        base = self._expanded_or_none(compare_to)
        expanded = self._expanded(patterns)
        key = ("changes", base or "", *expanded)
        if key not in self._path_results:
            paths = self._context.changed_paths(base)
            self._path_results[key] = paths is None or self._matches_paths(expanded, paths)
        return self._path_results[key]

    def _has_file(self, patterns: Sequence[str], project: str | None, ref: str | None) -> bool:
        expanded = self._expanded(patterns)
        project, ref = self._expanded_or_none(project), self._expanded_or_none(ref)
        key = ("exists", project or "", ref or "", *expanded)
        if key not in self._path_results:
            self._path_results[key] = self._matches_paths(expanded, self._context.file_paths(project, ref))
        return self._path_results[key]

    def is_selected(self, only: RefPolicy | None, excluded: RefPolicy | None) -> bool:
        """Decide ``only`` and ``except``; an ``only`` without refs means branches and tags."""
        return (only is None or self._satisfies_all(only)) and not (excluded is not None and self._has_any(excluded))

    def _satisfies_all(self, policy: RefPolicy) -> bool:
        refs = _DEFAULT_REFS if policy.refs is None else policy.refs
        return (
            not policy.kubernetes
            and self._matches_refs(refs)
            and (policy.variables is None or self._any_expression(policy.variables))
            and (policy.changes is None or self._has_changed(policy.changes))
        )

    def _has_any(self, policy: RefPolicy) -> bool:
        return (
            (policy.refs is not None and self._matches_refs(policy.refs))
            or (policy.variables is not None and self._any_expression(policy.variables))
            or (policy.changes is not None and self._has_changed(policy.changes))
        )

    def _any_expression(self, conditions: Sequence[str]) -> bool:
        return any(self._evaluate(condition) for condition in conditions)

    def _matches_refs(self, refs: Sequence[str]) -> bool:
        return any(_matches_ref(ref, self._context) for ref in refs)


def evaluate(condition: str, variables: Mapping[str, str]) -> bool:
    """Evaluate an expression; an invalid one counts as false."""
    try:
        return parse_expression(condition)(variables)
    except InvalidExpression:
        return False


def _matches_ref(pattern: str, context: RuleContext) -> bool:
    pattern, path = split_project(pattern)
    if path is not None and path != context.project_path:
        return False
    in_merge_request = context.source == "merge_request_event"
    if pattern == "branches" and not context.is_tag and not in_merge_request:
        return True
    if pattern == "tags" and context.is_tag:
        return True
    if context.source in (_SOURCES.get(pattern), pattern, f"{pattern}_event"):
        return True
    if in_merge_request:
        return False
    if is_pattern(pattern):
        matcher = pattern_matcher(pattern)
        return matcher is not None and matcher(context.ref)
    return pattern == context.ref
