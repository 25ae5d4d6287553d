"""Permissions on protected branches and tags: matching rules and the levels that they allow."""

from collections.abc import Callable, Iterable, Sequence

from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access, Level
from ingot.repositories.protection.tables import ProtectedBranch, ProtectedTag


def matching_branch_rules(rules: Iterable[ProtectedBranch], branch: str) -> list[ProtectedBranch]:
    """Return the rules that match a branch."""
    return [rule for rule in rules if name_matches(rule.name, branch)]


def matching_tag_rules(rules: Iterable[ProtectedTag], tag: str) -> list[ProtectedTag]:
    """Return the rules that match a tag."""
    return [rule for rule in rules if name_matches(rule.name, tag)]


def name_matches(pattern: str, name: str) -> bool:
    """Return whether a rule's pattern matches a branch or tag; ``*`` matches any characters, including slashes.

    Each part between two stars is searched once, so the time is linear. A regular expression would backtrack over all
    ways to distribute a name over many stars.
    """
    if "*" not in pattern:
        return pattern == name
    first, *middle, last = pattern.split("*")
    if len(name) < len(first) + len(last) or not name.startswith(first) or not name.endswith(last):
        return False
    position, end = len(first), len(name) - len(last)
    for piece in middle:
        index = name.find(piece, position, end)
        if index < 0:
            return False
        position = index + len(piece)
    return True


def allows_level(level: int, actor: Actor, access: Access) -> bool:
    """Return whether a rule's level allows the caller; 0 allows no one, administrators pass all others."""
    return level != Level.NONE and (actor.admin or access.level >= level)


def _allows(matching: Sequence[ProtectedBranch], allows: Callable[[ProtectedBranch], bool]) -> bool:
    """Return whether a rule of each source allows it: a rule of the project cannot weaken those of its groups."""
    parts = [[rule for rule in matching if rule.inherited == inherited] for inherited in (False, True)]
    return bool(matching) and all(any(map(allows, part)) for part in parts if part)


def may_push_to(actor: Actor, access: Access, matching: Sequence[ProtectedBranch]) -> bool:
    """Callers who may push under at least one of the matching rules of the project, and likewise of its groups."""
    return _allows(matching, lambda rule: allows_level(rule.push_level, actor, access))


def may_merge_into(actor: Actor, access: Access, matching: Sequence[ProtectedBranch]) -> bool:
    """Callers who may merge under at least one of the matching rules of the project, and likewise of its groups."""
    return _allows(matching, lambda rule: allows_level(rule.merge_level, actor, access))


def may_create_tag(actor: Actor, access: Access, matching: Sequence[ProtectedTag]) -> bool:
    """Callers who may create the tag under at least one of the matching rules."""
    return any(allows_level(rule.create_level, actor, access) for rule in matching)


def may_update_branch(actor: Actor, access: Access, rules: Iterable[ProtectedBranch], branch: str) -> bool:
    """Developers for an unprotected branch, else users who may push to it or merge into it: they run its pipelines."""
    matching = matching_branch_rules(rules, branch)
    return not matching or may_push_to(actor, access, matching) or may_merge_into(actor, access, matching)


def may_update_tag(actor: Actor, access: Access, rules: Iterable[ProtectedTag], tag: str) -> bool:
    """Developers for an unprotected tag, else users who may create it: they run its pipelines."""
    matching = matching_tag_rules(rules, tag)
    return not matching or may_create_tag(actor, access, matching)


def developers_can_push(matching: Sequence[ProtectedBranch]) -> bool:
    """Return whether a rule allows developers to push."""
    return _allows(matching, lambda rule: rule.push_level == Level.DEVELOPER)


def developers_can_merge(matching: Sequence[ProtectedBranch]) -> bool:
    """Return whether a rule allows developers to merge."""
    return _allows(matching, lambda rule: rule.merge_level == Level.DEVELOPER)
