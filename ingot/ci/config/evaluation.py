"""Evaluation of rules and of ``only`` and ``except`` for one pipeline."""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from ingot.ci.config.expressions import InvalidExpression, parse_expression
from ingot.ci.config.globs import matches_any
from ingot.ci.config.patterns import is_pattern, pattern_matcher
from ingot.ci.config.plan import RefPolicy, Rule
from ingot.ci.config.variables import expand_text

_SOURCES = {
    "pushes": ("push",),
    "web": ("web",),
    "triggers": ("trigger",),
    "schedules": ("schedule",),
    "api": ("api",),
    "external": ("external",),
    "pipelines": ("pipeline",),
    "merge_requests": ("merge_request_event",),
    "external_pull_requests": ("external_pull_request_event",),
    "chat": ("chat",),
}


class RuleContext(Protocol):
    """The pipeline that rules are evaluated for."""

    ref: str
    is_tag: bool
    source: str
    project_path: str
    variables: Mapping[str, str]

    def changed_paths(self, compare_to: str | None) -> Collection[str] | None:
        """Return the changed paths; None if everything counts as changed."""
        ...

    def file_paths(self) -> Collection[str]:
        """Return the paths of all files of the commit."""
        ...


def first_match(rules: Sequence[Rule], context: RuleContext) -> Rule | None:
    """Return the first rule whose conditions all hold."""
    return next((rule for rule in rules if _holds(rule, context)), None)


def _holds(rule: Rule, context: RuleContext) -> bool:
    if rule.condition is not None and not evaluate(rule.condition, context.variables):
        return False
    if rule.changes is not None and not _has_changed(rule.changes, rule.compare_to, context):
        return False
    return rule.exists is None or matches_any(_expanded(rule.exists, context), context.file_paths())


def evaluate(condition: str, variables: Mapping[str, str]) -> bool:
    """Evaluate an expression; an invalid one counts as false."""
    try:
        return parse_expression(condition)(variables)
    except InvalidExpression:
        return False


def _expanded(patterns: Sequence[str], context: RuleContext) -> list[str]:
    return [expand_text(pattern, context.variables) for pattern in patterns]


def _has_changed(patterns: Sequence[str], compare_to: str | None, context: RuleContext) -> bool:
    base = None if compare_to is None else expand_text(compare_to, context.variables)
    paths = context.changed_paths(base)
    return paths is None or matches_any(_expanded(patterns, context), paths)


def is_selected(only: RefPolicy | None, excluded: RefPolicy | None, context: RuleContext) -> bool:
    """Decide ``only`` and ``except``; without ``only``, jobs run for branches and tags."""
    wanted = only or RefPolicy()
    refs = (
        wanted.refs
        if wanted.refs is not None
        else (("branches", "tags") if not (wanted.variables or wanted.changes) or only is None else None)
    )
    if refs is None:
        refs = ("branches", "tags")
    if not _matches_refs(refs, context):
        return False
    if wanted.variables is not None and not _any_expression(wanted.variables, context):
        return False
    if wanted.changes is not None and not _has_changed(wanted.changes, None, context):
        return False
    if excluded is None:
        return True
    return not (
        (excluded.refs is not None and _matches_refs(excluded.refs, context))
        or (excluded.variables is not None and _any_expression(excluded.variables, context))
        or (excluded.changes is not None and _has_changed(excluded.changes, None, context))
    )


def _any_expression(conditions: Sequence[str], context: RuleContext) -> bool:
    return any(evaluate(condition, context.variables) for condition in conditions)


def _matches_refs(patterns: Sequence[str], context: RuleContext) -> bool:
    return any(_matches_ref(pattern, context) for pattern in patterns)


def _matches_ref(pattern: str, context: RuleContext) -> bool:
    name, separator, path = pattern.rpartition("@")
    if separator and not is_pattern(pattern):
        if path != context.project_path:
            return False
        pattern = name
    in_merge_request = context.source == "merge_request_event"
    if pattern == "branches":
        return not context.is_tag and not in_merge_request
    if pattern == "tags":
        return context.is_tag
    if pattern in _SOURCES:
        return context.source in _SOURCES[pattern]
    if in_merge_request:
        return False
    if is_pattern(pattern):
        matcher = pattern_matcher(pattern)
        return matcher is not None and matcher(context.ref)
    return pattern == context.ref
