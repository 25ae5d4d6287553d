"""The gate: which changes of references a caller may make, with the sentence that tells why not."""

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
IsForced = Callable[[RefUpdate], bool]


class RefUpdateContext(msgspec.Struct, frozen=True):
    """All that the gate looks at besides the changes themselves."""

    actor: Actor
    here: Access
    project: Project
    branch_rules: Sequence[ProtectedBranch]
    tag_rules: Sequence[ProtectedTag]
    from_git_client: bool
    """Whether a git client pushes; some things are left to the API and the pages."""
    merges: bool = False
    """Whether it is the merge of a merge request, for which it is enough to be let merge."""


def push_refusal(actor: Actor, access: Access, project: Project) -> str | None:
    """Why somebody may push nothing at all to a project, or nothing where they may push something."""
    if project.archived:
        return "The project is archived, so it cannot be changed."
    if project.import_status in ("scheduled", "started"):
        return "The project is being imported; push when that is done."
    if not may_push_code(actor, access, project):
        return "You are not allowed to push code to this project."
    return None


def ref_update_refusal(context: RefUpdateContext, update: RefUpdate, is_forced: IsForced) -> str | None:
    """Why a change is refused, or nothing where it may be."""
    denied = push_refusal(context.actor, context.here, context.project)
    if denied is not None:
        return denied
    if update.branch is not None:
        return _branch_refusal(context, update, update.branch, is_forced)
    if update.tag is not None:
        return _tag_refusal(context, update, update.tag)
    if update.ref.startswith("refs/notes/"):
        return None
    return "Only branches and tags can be pushed."


def _branch_refusal(context: RefUpdateContext, update: RefUpdate, branch: str, is_forced: IsForced) -> str | None:
    trouble = None if update.deletes else ref_name_error(branch)
    if trouble is not None:
        return _invalid_name_refusal(branch, trouble)
    if update.deletes and branch == context.project.default_branch and not context.project.empty:
        return DEFAULT_BRANCH_REFUSAL
    rules = protection.matching_branch_rules(context.branch_rules, branch)
    # A project that is still empty counts as protected as a whole: who may begin it may administer it.
    if not rules and not context.project.empty:
        return None
    if update.deletes:
        return _deletion_refusal(context)
    if not update.creates and not all(rule.allow_force_push for rule in rules) and is_forced(update):
        return "You are not allowed to force push code to a protected branch on this project."
    if not rules:
        return None if may_admin_project(context.actor, context.here, context.project) else _PUSH_PROTECTED
    if context.merges and protection.may_merge_into(context.actor, context.here, rules):
        return None
    return None if protection.may_push_to(context.actor, context.here, rules) else _PUSH_PROTECTED


_PUSH_PROTECTED = "You are not allowed to push code to protected branches on this project."


def _deletion_refusal(context: RefUpdateContext) -> str | None:
    if not may_admin_project(context.actor, context.here, context.project):
        return (
            "You are not allowed to delete protected branches from this project. "
            "Only a project master or owner can delete a protected branch."
        )
    return "You can only delete protected branches using the web interface." if context.from_git_client else None


def _tag_refusal(context: RefUpdateContext, update: RefUpdate, tag: str) -> str | None:
    trouble = None if update.deletes else ref_name_error(tag)
    if trouble is not None:
        return _invalid_name_refusal(tag, trouble)
    if not update.creates and not may_admin_project(context.actor, context.here, context.project):
        return "You are not allowed to change existing tags on this project."
    rules = protection.matching_tag_rules(context.tag_rules, tag)
    if not rules:
        return None
    if update.deletes:
        return "Protected tags cannot be deleted."
    if not update.creates:
        return "Protected tags cannot be updated."
    if not protection.may_create_tag(context.actor, context.here, rules):
        return "You are not allowed to create this tag as it is protected."
    return None


def _invalid_name_refusal(name: str, trouble: str) -> str:
    shown = name if len(name) <= _MAX_NAME_SHOWN else f"{name[:_MAX_NAME_SHOWN]}…"
    return f"'{shown}' {trouble}."
