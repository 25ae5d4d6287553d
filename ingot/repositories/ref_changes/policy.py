"""Permissions on ref updates; each check returns the message of the refusal, or None."""

from collections.abc import Callable, Sequence

import msgspec

from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.git.core.names import ref_name_error
from ingot.git.writing.ref_updates import RefUpdate
from ingot.projects.projects.policy import may_admin_project, may_push_code
from ingot.projects.projects.tables import Project
from ingot.repositories.protection import policy as protection
from ingot.repositories.protection.tables import ProtectedBranch, ProtectedTag

MAX_REFS = 20_000
DEFAULT_BRANCH_REFUSAL = "The default branch of a project cannot be deleted."
_MAX_NAME_SHOWN = 60
_SOME_OID, _OTHER_OID = "e" * 40, "f" * 40
IsForced = Callable[[RefUpdate], bool]


class RefUpdateContext(msgspec.Struct, frozen=True):
    """Input of the permission check besides the updates themselves."""

    actor: Actor
    access: Access
    project: Project
    branch_rules: Sequence[ProtectedBranch]
    tag_rules: Sequence[ProtectedTag]
    from_git_client: bool
    """Pushed by a git client; some operations are reserved for the API and the pages."""
    merges: bool = False
    """Merge of a merge request, which requires only the permission to merge."""
    deploy_key_rules: frozenset[int] | None = None
    """Ids of the branch rules that name the deploy key that pushes; None if a user makes the change."""
    developers_start: bool = False
    """Whether developers may push the first branch of the project, which is empty."""


def push_refusal(actor: Actor, access: Access, project: Project) -> str | None:
    """Return the reason why the caller may not push to the project at all, or None."""
    if project.archived:
        return "The project is archived, so it cannot be changed."
    if project.import_status in ("scheduled", "started"):
        return "The project is being imported; push when that is done."
    if not may_push_code(actor, access, project):
        return "You are not allowed to push code to this project."
    return None


def branch_push_refusal(
    actor: Actor,
    access: Access,
    project: Project,
    rules: Sequence[ProtectedBranch],
    branch: str,
    *,
    forced: bool = False,
    merges: bool = False,
    developers_start: bool = False,
) -> str | None:
    """Return the reason why the caller may not add commits to a branch, or None; what is shown as permitted is pushed.

    ``forced`` asks for other commits in place of those of the branch, ``merges`` for the merge of a merge request.
    """
    context = RefUpdateContext(
        actor, access, project, rules, (), from_git_client=False, merges=merges, developers_start=developers_start
    )
    update = RefUpdate(f"refs/heads/{branch}", _SOME_OID, _OTHER_OID)
    return ref_update_refusal(context, update, lambda _: forced)


def ref_update_refusal(context: RefUpdateContext, update: RefUpdate, is_forced: IsForced) -> str | None:
    """Return the reason why an update is refused, or None if it is allowed."""
    refusal = push_refusal(context.actor, context.access, context.project)
    if refusal is not None:
        return refusal
    if update.branch is not None:
        return _branch_refusal(context, update, update.branch, is_forced)
    if update.tag is not None:
        return _tag_refusal(context, update, update.tag)
    if update.ref.startswith("refs/notes/"):
        return None
    return "Only branches and tags can be pushed."


def _branch_refusal(context: RefUpdateContext, update: RefUpdate, branch: str, is_forced: IsForced) -> str | None:
    error = None if update.deletes else ref_name_error(branch)
    if error is not None:
        return _invalid_name_refusal(branch, error)
    if update.deletes and branch == context.project.default_branch and not context.project.empty:
        return DEFAULT_BRANCH_REFUSAL
    rules = protection.matching_branch_rules(context.branch_rules, branch)
    # The branches of an empty project count as protected: users who administer it may push the first one, and
    # developers if the default protection admits that.
    if not rules and not context.project.empty:
        return None
    if update.deletes:
        return _deletion_refusal(context)
    if context.project.empty and context.developers_start and context.deploy_key_rules is None:
        return None
    if not update.creates and not all(rule.allow_force_push for rule in rules) and is_forced(update):
        return "You are not allowed to force push code to a protected branch on this project."
    if context.deploy_key_rules is not None:
        return None if any(rule.id in context.deploy_key_rules for rule in rules) else _DEPLOY_KEY_PROTECTED
    if not rules:
        return None if may_admin_project(context.actor, context.access, context.project) else _PUSH_PROTECTED
    if context.merges and protection.may_merge_into(context.actor, context.access, rules):
        return None
    return None if protection.may_push_to(context.actor, context.access, rules) else _PUSH_PROTECTED


_PUSH_PROTECTED = "You are not allowed to push code to protected branches on this project."
_DEPLOY_KEY_PROTECTED = (
    "This deploy key is not allowed to push code to this protected branch. "
    "A maintainer can allow it in the repository settings of the project."
)


def _deletion_refusal(context: RefUpdateContext) -> str | None:
    if not may_admin_project(context.actor, context.access, context.project):
        return (
            "You are not allowed to delete protected branches from this project. "
            "Only a project master or owner can delete a protected branch."
        )
    return "You can only delete protected branches using the web interface." if context.from_git_client else None


def _tag_refusal(context: RefUpdateContext, update: RefUpdate, tag: str) -> str | None:
    error = None if update.deletes else ref_name_error(tag)
    if error is not None:
        return _invalid_name_refusal(tag, error)
    if not update.creates and not may_admin_project(context.actor, context.access, context.project):
        return "You are not allowed to change existing tags on this project."
    rules = protection.matching_tag_rules(context.tag_rules, tag)
    if not rules:
        return None
    if update.deletes:
        return "Protected tags cannot be deleted."
    if not update.creates:
        return "Protected tags cannot be updated."
    if not protection.may_create_tag(context.actor, context.access, rules):
        return "You are not allowed to create this tag as it is protected."
    return None


def _invalid_name_refusal(name: str, error: str) -> str:
    shown = name if len(name) <= _MAX_NAME_SHOWN else f"{name[:_MAX_NAME_SHOWN]}…"
    return f"'{shown}' {error}."
