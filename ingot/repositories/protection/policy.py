"""What protection means: which rules match a name, and whom they let."""

from collections.abc import Iterable, Sequence

from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access, Level
from ingot.repositories.protection.tables import ProtectedBranch, ProtectedTag


def matching_branch_rules(rules: Iterable[ProtectedBranch], branch: str) -> list[ProtectedBranch]:
    """The rules that match a branch."""
    return [rule for rule in rules if name_matches(rule.name, branch)]


def matching_tag_rules(rules: Iterable[ProtectedTag], tag: str) -> list[ProtectedTag]:
    """The rules that match a tag."""
    return [rule for rule in rules if name_matches(rule.name, tag)]


def name_matches(pattern: str, name: str) -> bool:
    """Whether a rule of this name holds for a branch or tag; a star stands for any signs, slashes too.

    Each piece between two stars is looked for once, so no pattern takes longer than its length: a regular
    expression would try every way to spread a name over many stars.
    """
    if "*" not in pattern:
        return pattern == name
    first, *middle, last = pattern.split("*")
    if len(name) < len(first) + len(last) or not name.startswith(first) or not name.endswith(last):
        return False
    place, end = len(first), len(name) - len(last)
    for piece in middle:
        found = name.find(piece, place, end)
        if found < 0:
            return False
        place = found + len(piece)
    return True


def allows_level(level: int, actor: Actor, access: Access) -> bool:
    """Whether a rule that asks for ``level`` lets the caller; 0 lets nobody, and administrators pass all others."""
    return level != Level.NONE and (actor.admin or access.level >= level)


def may_push_to(actor: Actor, access: Access, matching: Sequence[ProtectedBranch]) -> bool:
    """Whether one of the rules on a protected branch lets the caller push."""
    return any(allows_level(rule.push_level, actor, access) for rule in matching)


def may_merge_into(actor: Actor, access: Access, matching: Sequence[ProtectedBranch]) -> bool:
    """Whether one of the rules on a protected branch lets the caller merge."""
    return any(allows_level(rule.merge_level, actor, access) for rule in matching)


def may_create_tag(actor: Actor, access: Access, matching: Sequence[ProtectedTag]) -> bool:
    """Whether one of the rules on a protected tag lets the caller create it."""
    return any(allows_level(rule.create_level, actor, access) for rule in matching)


def developers_can_push(matching: Sequence[ProtectedBranch]) -> bool:
    """Whether a rule opens the branch to pushes of developers."""
    return any(rule.push_level == Level.DEVELOPER for rule in matching)


def developers_can_merge(matching: Sequence[ProtectedBranch]) -> bool:
    """Whether a rule opens the branch to merges of developers."""
    return any(rule.merge_level == Level.DEVELOPER for rule in matching)
