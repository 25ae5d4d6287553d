"""Protection of branches and tags as tables of cases without a database: rules, names and ref checks."""

from typing import Any

import pytest

from ingot.core.access.actor import ANONYMOUS, Actor
from ingot.core.access.levels import Access, Level
from ingot.core.db.times import Timestamp
from ingot.git.history.commits import NO_OID
from ingot.git.writing.ref_updates import RefUpdate
from ingot.projects.projects.tables import Project
from ingot.repositories.protection import policy
from ingot.repositories.protection.tables import ProtectedBranch, ProtectedTag
from ingot.repositories.ref_changes.policy import RefUpdateContext, push_refusal, ref_update_refusal
from ingot.repositories.tags.policy import may_release

THEN = Timestamp("2026-01-01T00:00:00.000Z")
USER = Actor(user_id=7, username="u", via="private")
ROOT = Actor(user_id=1, username="root", admin=True, via="private")
A, B = "a" * 40, "b" * 40
NONE, GUEST, REPORTER, DEVELOPER, MASTER, OWNER = Level


def branch_rule(name: str = "master", push: int = 40, merge: int = 40, *, force: bool = False) -> ProtectedBranch:
    """Return a rule on branches."""
    return ProtectedBranch(1, 1, name, push, merge, force, THEN)


def tag_rule(name: str = "v*", create: int = 40) -> ProtectedTag:
    """Return a rule on tags."""
    return ProtectedTag(1, 1, name, create, THEN)


def project(**columns: Any) -> Project:
    """Return a project with a branch."""
    empty: dict[str, Any] = dict.fromkeys(Project.__struct_fields__)
    known = {"id": 1, "archived": False, "empty": False, "default_branch": "master", "import_status": "none"}
    known |= {"repository_access_level": "enabled", "options_document": "{}"}
    return Project(**{**empty, **known, **columns})


# Names


@pytest.mark.parametrize(
    ("pattern", "matches", "others"),
    [
        ("master", ["master"], ["Master", "master2", "xmaster", "mas*", "feature/master", ""]),
        ("*", ["", "a", "a/b", "ü\n"], []),
        ("release-*", ["release-", "release-1", "release-1/x", "release-\n"], ["release", "xrelease-1", "Release-1"]),
        ("*-stable", ["-stable", "1-stable", "a/b-stable"], ["stable", "1-stable-x"]),
        ("a*b", ["ab", "axb", "a/b", "abb", "aab"], ["a", "b", "ba", "abx"]),
        ("aba*aba", ["abaaba", "aba/aba"], ["aba", "ababa"]),
        ("*/x/*", ["/x/", "a/x/b", "a/x/x/b"], ["x/b", "a/x", "axb"]),
        ("a*b*c", ["abc", "a-b-c", "abbcc", "abcbc"], ["acb", "ac", "abcd"]),
        ("a**b", ["ab", "axb"], ["a"]),
        ("**", ["", "a"], []),
        ("v1.0", ["v1.0"], ["v1x0"]),
        ("[a-z]?(x)*", ["[a-z]?(x)", "[a-z]?(x)y"], ["a", "ax"]),
    ],
)
def test_wildcard_matching(pattern: str, matches: list[str], others: list[str]) -> None:
    assert [name for name in matches + others if policy.name_matches(pattern, name)] == matches


def test_many_wildcards_match_in_linear_time() -> None:
    """Attack: a master creates a rule that keeps the ref check busy."""
    assert not policy.name_matches("*a" * 400 + "*b", "a" * 900)
    assert policy.name_matches("*a" * 400 + "*", "a" * 900)


# Rules


@pytest.mark.parametrize(
    ("asked", "let"),
    [(0, []), (30, [DEVELOPER, MASTER, OWNER]), (40, [MASTER, OWNER]), (60, [])],
)
def test_users_permitted_by_a_level(asked: int, let: list[Level]) -> None:
    assert [level for level in Level if policy.allows_level(asked, USER, Access(level=level))] == let
    assert policy.allows_level(asked, ROOT, Access()) is (asked != 0)
    assert not policy.allows_level(asked, ANONYMOUS, Access())


@pytest.mark.parametrize(
    ("rules", "push", "merge"),
    [
        ([branch_rule(push=40, merge=40)], False, False),
        ([branch_rule(push=30, merge=40)], True, False),
        ([branch_rule(push=40, merge=30)], False, True),
        ([branch_rule(push=0, merge=0), branch_rule("m*", push=30, merge=30)], True, True),  # The weakest counts.
        ([branch_rule(push=40), branch_rule("mas*", push=30), branch_rule("x*", merge=30)], True, False),
        ([branch_rule(push=0, merge=0)], False, False),
    ],
)
def test_several_rules_on_a_branch(rules: list[ProtectedBranch], push: bool, merge: bool) -> None:
    matching = policy.matching_branch_rules(rules, "master")
    here = Access(level=DEVELOPER)
    assert (policy.may_push_to(USER, here, matching), policy.may_merge_into(USER, here, matching)) == (push, merge)
    assert (policy.developers_can_push(matching), policy.developers_can_merge(matching)) == (push, merge)


def test_rules_on_other_names_do_not_count() -> None:
    rules = [branch_rule("main"), branch_rule("feature/*")]
    assert policy.matching_branch_rules(rules, "master") == []
    assert [rule.name for rule in policy.matching_branch_rules(rules, "feature/a/b")] == ["feature/*"]
    assert [rule.name for rule in policy.matching_tag_rules([tag_rule(), tag_rule("w*")], "v1")] == ["v*"]


@pytest.mark.parametrize(
    ("rules", "developer", "master", "administrator"),
    [
        ([], True, True, True),
        ([tag_rule(create=30)], True, True, True),
        ([tag_rule(create=40)], False, True, True),
        ([tag_rule(create=60)], False, False, True),
        ([tag_rule(create=0)], False, False, False),
        ([tag_rule(create=0), tag_rule("v1*", create=30)], True, True, True),
    ],
)
def test_permission_to_release_a_tag(
    rules: list[ProtectedTag], developer: bool, master: bool, administrator: bool
) -> None:
    matching = policy.matching_tag_rules(rules, "v1.0")
    assert may_release(USER, Access(level=DEVELOPER), project(), matching) is developer
    assert may_release(USER, Access(level=MASTER), project(), matching) is master
    assert may_release(ROOT, Access(), project(), matching) is administrator
    assert not may_release(USER, Access(level=REPORTER), project(), matching)
    assert not may_release(ROOT, Access(), project(archived=True), matching)


# Ref checks


def check(
    ref: str,
    old: str,
    new: str,
    *,
    actor: Actor = USER,
    level: Level = DEVELOPER,
    branches: list[ProtectedBranch] | None = None,
    tags: list[ProtectedTag] | None = None,
    by_git: bool = True,
    merges: bool = False,
    forced: bool = False,
    **columns: Any,
) -> str:
    """Return the message of the ref check, empty if permitted; force is evaluated only if needed."""
    rules = [branch_rule()] if branches is None else branches
    ground = RefUpdateContext(actor, Access(level=level), project(**columns), rules, tags or [], by_git, merges)
    return ref_update_refusal(ground, RefUpdate(ref, old, new), lambda _: forced) or ""


@pytest.mark.parametrize(
    ("actor", "level", "columns", "word"),
    [
        (USER, REPORTER, {}, "not allowed to push code to this project"),
        (USER, GUEST, {}, "not allowed to push code to this project"),
        (USER, NONE, {}, "not allowed to push code to this project"),
        (ANONYMOUS, NONE, {}, "not allowed to push code to this project"),
        (USER, DEVELOPER, {}, ""),
        (USER, OWNER, {}, ""),
        (ROOT, NONE, {}, ""),
        (USER, OWNER, {"archived": True}, "archived"),
        (ROOT, NONE, {"archived": True}, "archived"),
        (USER, OWNER, {"repository_access_level": "disabled"}, "not allowed to push code"),
        (ROOT, NONE, {"repository_access_level": "disabled"}, "not allowed to push code"),
        (USER, OWNER, {"repository_access_level": "private"}, ""),
        (USER, OWNER, {"import_status": "scheduled"}, "being imported"),
        (ROOT, NONE, {"import_status": "started"}, "being imported"),
        (USER, DEVELOPER, {"import_status": "finished"}, ""),
        (USER, DEVELOPER, {"import_status": "failed"}, ""),
    ],
)
def test_permission_to_push(actor: Actor, level: Level, columns: dict[str, Any], word: str) -> None:
    said = push_refusal(actor, Access(level=level), project(**columns)) or ""
    assert (word in said) if word else not said
    for ref in ("refs/heads/feature", "refs/tags/x", "refs/notes/x"):
        assert check(ref, NO_OID, A, actor=actor, level=level, **columns) == said


@pytest.mark.parametrize(
    ("ref", "allowed"),
    [
        ("refs/heads/feature", True),
        ("refs/heads/a/b", True),
        ("refs/tags/v1", True),
        ("refs/notes/commits", True),
        ("refs/merge-requests/1/head", False),
        ("refs/keep-around/" + A, False),
        ("refs/environments/x", False),
        ("refs/stash", False),
        ("refs/remotes/origin/x", False),
        ("HEAD", False),
        ("refs/heads", False),
        ("refs/tags", False),
    ],
)
def test_permitted_ref_namespaces(ref: str, allowed: bool) -> None:
    for actor, level in ((USER, OWNER), (ROOT, NONE)):
        said = check(ref, NO_OID, A, actor=actor, level=level)
        assert said == ("" if allowed else "Only branches and tags can be pushed.")


SHA = "0123456789abcdef0123456789abcdef01234567"


@pytest.mark.parametrize("kind", ["heads", "tags"])
@pytest.mark.parametrize(
    ("name", "allowed"),
    [
        ("-x", False),
        ("--help", False),
        (SHA, False),
        (SHA.upper(), False),
        ("f" * 64, False),
        (f"{SHA}/x", False),
        (f"{SHA}-foo", True),
        ("heads/main", False),
        ("refs/heads/main", False),
        ("HEAD", False),
        ("@", False),
        ("a:b", False),
        ("x" * 251, False),
        ("ünïcode", True),
    ],
)
def test_ambiguous_names(kind: str, name: str, allowed: bool) -> None:
    """They can be deleted, but neither created nor moved."""
    for actor, level in ((USER, MASTER), (ROOT, NONE)):
        for old in (NO_OID, B):
            said = check(f"refs/{kind}/{name}", old, A, actor=actor, level=level)
            assert (said == "") is allowed, said
        assert check(f"refs/{kind}/{name}", B, NO_OID, actor=actor, level=level) == ""


@pytest.mark.parametrize("by_git", [True, False])
def test_an_unprotected_branch(by_git: bool) -> None:
    for old, new in ((NO_OID, A), (A, B), (A, NO_OID)):
        assert check("refs/heads/feature", old, new, by_git=by_git, forced=True) == ""
    assert check("refs/heads/feature", A, B, level=REPORTER, by_git=by_git) != ""


PUSH, FORCE = "to protected branches", "force push"
DELETE_ROLE, DELETE_WEB, DEFAULT = "Only a project master", "using the web interface", "default branch"


@pytest.mark.parametrize(
    ("rules", "level", "change", "options", "word"),
    [
        # Pushing.
        ([branch_rule("x")], DEVELOPER, "update", {}, PUSH),
        ([branch_rule("x")], MASTER, "update", {}, ""),
        ([branch_rule("x")], DEVELOPER, "create", {}, PUSH),
        ([branch_rule("x")], MASTER, "create", {}, ""),
        ([branch_rule("x", push=30)], DEVELOPER, "update", {}, ""),
        ([branch_rule("x", push=30)], DEVELOPER, "create", {}, ""),
        ([branch_rule("x", push=0)], OWNER, "update", {}, PUSH),
        ([branch_rule("x", push=60)], OWNER, "update", {}, PUSH),
        ([branch_rule("*")], DEVELOPER, "update", {}, PUSH),
        ([branch_rule("x", push=0), branch_rule("*", push=30)], DEVELOPER, "update", {}, ""),
        ([branch_rule("x/*")], DEVELOPER, "update", {}, ""),
        # Merging.
        ([branch_rule("x", merge=30)], DEVELOPER, "update", {}, PUSH),
        ([branch_rule("x", merge=30)], DEVELOPER, "update", {"merges": True}, ""),
        ([branch_rule("x")], DEVELOPER, "update", {"merges": True}, PUSH),
        ([branch_rule("x", push=30, merge=0)], DEVELOPER, "update", {"merges": True}, ""),
        ([branch_rule("x", push=0, merge=40)], MASTER, "update", {"merges": True}, ""),
        ([branch_rule("x", merge=30)], DEVELOPER, "force", {"merges": True}, FORCE),
        # Forcing.
        ([branch_rule("x")], OWNER, "force", {}, FORCE),
        ([branch_rule("x", force=True)], MASTER, "force", {}, ""),
        ([branch_rule("x", force=True)], DEVELOPER, "force", {}, PUSH),
        ([branch_rule("x", push=30, force=True)], DEVELOPER, "force", {}, ""),
        ([branch_rule("x", force=True), branch_rule("*")], OWNER, "force", {}, FORCE),
        # Deleting.
        ([branch_rule("x")], DEVELOPER, "delete", {}, DELETE_ROLE),
        ([branch_rule("x", push=30)], DEVELOPER, "delete", {}, DELETE_ROLE),
        ([branch_rule("x")], DEVELOPER, "delete", {"by_git": False}, DELETE_ROLE),
        ([branch_rule("x")], MASTER, "delete", {}, DELETE_WEB),
        ([branch_rule("x")], MASTER, "delete", {"by_git": False}, ""),
        ([branch_rule("x", push=0)], MASTER, "delete", {"by_git": False}, ""),
        ([branch_rule("x")], OWNER, "delete", {"by_git": False, "default_branch": "x"}, DEFAULT),
        ([], OWNER, "delete", {"default_branch": "x"}, DEFAULT),
        ([], DEVELOPER, "update", {"default_branch": "x"}, ""),
        ([], DEVELOPER, "force", {"default_branch": "x"}, ""),
        # Empty projects: the first push requires permission to administer.
        ([], DEVELOPER, "create", {"empty": True}, PUSH),
        ([], MASTER, "create", {"empty": True}, ""),
        ([branch_rule("x", push=30)], DEVELOPER, "create", {"empty": True}, ""),
        ([branch_rule("x")], DEVELOPER, "create", {"empty": True}, PUSH),
    ],
)
def test_a_protected_branch(
    rules: list[ProtectedBranch], level: Level, change: str, options: dict[str, Any], word: str
) -> None:
    old, new = {"create": (NO_OID, A), "delete": (A, NO_OID)}.get(change, (A, B))
    said = check("refs/heads/x", old, new, level=level, branches=rules, forced=change == "force", **options)
    assert (word in said) if word else not said, said


@pytest.mark.parametrize(
    ("rule", "change", "by_git", "word"),
    [
        (branch_rule("x"), "update", True, ""),
        (branch_rule("x", push=60), "update", True, ""),
        (branch_rule("x", push=0), "update", True, PUSH),
        (branch_rule("x"), "force", True, FORCE),
        (branch_rule("x"), "delete", True, DELETE_WEB),
        (branch_rule("x"), "delete", False, ""),
    ],
)
def test_administrators_are_bound_by_protection(rule: ProtectedBranch, change: str, by_git: bool, word: str) -> None:
    old, new = (A, NO_OID) if change == "delete" else (A, B)
    said = check(
        "refs/heads/x", old, new, actor=ROOT, level=NONE, branches=[rule], forced=change == "force", by_git=by_git
    )
    assert (word in said) if word else not said, said


CHANGE, CREATE = "change existing tags", "create this tag"
NO_UPDATE, NO_DELETE = "cannot be updated", "cannot be deleted"


@pytest.mark.parametrize(
    ("rules", "level", "change", "by_git", "word"),
    [
        ([], DEVELOPER, "create", True, ""),
        ([], DEVELOPER, "update", True, CHANGE),
        ([], DEVELOPER, "delete", True, CHANGE),
        ([], DEVELOPER, "delete", False, CHANGE),
        ([], MASTER, "update", True, ""),
        ([], MASTER, "delete", True, ""),
        ([tag_rule("w*")], DEVELOPER, "create", True, ""),
        ([tag_rule()], DEVELOPER, "create", True, CREATE),
        ([tag_rule()], MASTER, "create", True, ""),
        ([tag_rule(create=30)], DEVELOPER, "create", True, ""),
        ([tag_rule(create=0)], OWNER, "create", True, CREATE),
        ([tag_rule(create=0), tag_rule("v1", create=30)], DEVELOPER, "create", True, ""),
        ([tag_rule()], OWNER, "update", True, NO_UPDATE),
        ([tag_rule()], OWNER, "update", False, NO_UPDATE),
        ([tag_rule(create=30)], DEVELOPER, "update", True, CHANGE),
        ([tag_rule()], OWNER, "delete", True, NO_DELETE),
        ([tag_rule()], MASTER, "delete", False, NO_DELETE),
        ([tag_rule(create=30)], DEVELOPER, "delete", False, CHANGE),
    ],
)
def test_tags(rules: list[ProtectedTag], level: Level, change: str, by_git: bool, word: str) -> None:
    old, new = {"create": (NO_OID, A), "delete": (A, NO_OID)}.get(change, (A, B))
    said = check("refs/tags/v1", old, new, level=level, tags=rules, by_git=by_git)
    assert (word in said) if word else not said, said


def test_force_is_determined_only_if_needed() -> None:
    """It requires a walk through the history."""

    def never(_: RefUpdate) -> bool:
        raise AssertionError

    ground = RefUpdateContext(USER, Access(level=DEVELOPER), project(), [branch_rule()], [], from_git_client=True)
    assert ref_update_refusal(ground, RefUpdate("refs/heads/x", A, B), never) is None
    assert ref_update_refusal(ground, RefUpdate("refs/heads/master", NO_OID, B), never) is not None
    assert ref_update_refusal(ground, RefUpdate("refs/tags/x", NO_OID, B), never) is None
