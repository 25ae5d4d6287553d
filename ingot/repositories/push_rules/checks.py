"""Check of ref updates against the push rule of a project."""

import re
from collections.abc import Iterator, Mapping, Sequence

from ingot.accounts.users.commit_addresses import commit_user_or_none
from ingot.accounts.users.queries import find_user
from ingot.core.access.actor import Actor
from ingot.core.db.database import Database
from ingot.core.errors import Denied
from ingot.git.core.repository import Repository
from ingot.git.history.pushed_objects import CheckedCommit, pushed_commits, pushed_files, pushed_paths
from ingot.git.writing.ref_updates import RefUpdate
from ingot.projects.namespaces.push_rule import PushRule
from ingot.projects.projects.tables import Project
from ingot.repositories.push_rules.patterns import matches

MAX_COMMITS = 5000
_MEGABYTE = 2**20
_SIGN_OFF = re.compile(r"^Signed-off-by: .+ <.+@.+>", re.MULTILINE)
_SECRETS = re.compile(
    r"(?:^|/)(?:id_(?:rsa|dsa|ed25519|ecdsa)|\.?aws/credentials|\.netrc|\.pgpass|\.htpasswd|\.?otr\.private_key"
    r"|[^/]+\.(?:pem|p12|pfx|ppk|key|keystore|jks))$"
)


def check_push_rule(
    database: Database,
    repository: Repository,
    actor: Actor,
    project: Project,
    rule: PushRule,
    updates: Sequence[RefUpdate],
    env: Mapping[str, str] | None,
    *,
    from_git_client: bool,
) -> None:
    """Raise Denied if the updates violate the rule; ``env`` makes the objects of a push available."""
    for update in updates:
        if rule.deny_delete_tag and update.tag is not None and update.deletes:
            raise Denied("You cannot delete a tag")
        if _is_misnamed(project, rule, update):
            raise Denied(f"Branch name '{update.branch}' does not follow the pattern '{rule.branch_name_regex}'")
    tips = [update.new for update in updates if not update.deletes and update.branch is not None]
    if not tips:
        return
    commits = pushed_commits(repository, tips, env, MAX_COMMITS + 1)
    if len(commits) > MAX_COMMITS:
        raise Denied(f"A push to a project with push rules may add {MAX_COMMITS} commits at most.")
    for commit in commits:
        for refusal in _commit_refusals(database, actor, rule, commit, from_git_client=from_git_client):
            raise Denied(refusal)
    if rule.file_name_regex or rule.prevent_secrets:
        for path in pushed_paths(repository, commits, env):
            for refusal in _name_refusals(rule, path):
                raise Denied(refusal)
    if rule.max_file_size:
        for file in pushed_files(repository, tips, env):
            if file.size > rule.max_file_size * _MEGABYTE:
                raise Denied(f"File {file.path} is larger than the allowed size of {rule.max_file_size} MB.")


def _is_misnamed(project: Project, rule: PushRule, update: RefUpdate) -> bool:
    branch = update.branch
    if branch is None or not update.creates or not rule.branch_name_regex or branch == project.default_branch:
        return False
    return not matches(branch, rule.branch_name_regex)


def _commit_refusals(
    database: Database, actor: Actor, rule: PushRule, commit: CheckedCommit, *, from_git_client: bool
) -> Iterator[str]:
    if rule.commit_message_regex and not matches(commit.message, rule.commit_message_regex):
        yield f"Commit message does not follow the pattern '{rule.commit_message_regex}'"
    if rule.commit_message_negative_regex and matches(commit.message, rule.commit_message_negative_regex):
        yield f"Commit message contains the forbidden pattern '{rule.commit_message_negative_regex}'"
    if rule.reject_non_dco_commits and not _SIGN_OFF.search(commit.message):
        yield "Commit message must contain a DCO signoff"
    if rule.author_email_regex:
        for role, email in (("Author", commit.author_email), ("Committer", commit.committer_email)):
            if not matches(email, rule.author_email_regex):
                yield f"{role}'s email '{email}' does not follow the pattern '{rule.author_email_regex}'"
    if rule.member_check and database.read(lambda db: commit_user_or_none(db, commit.author_email)) is None:
        yield f"Author '{commit.author_email}' is not a member of team"
    # The server itself writes the commits of the API and of pages, in the name of the user.
    if from_git_client:
        if rule.reject_unsigned_commits and not commit.signed:
            yield "Commit must be signed with a GPG key."
        yield from _committer_refusals(database, actor, rule, commit)


def _committer_refusals(database: Database, actor: Actor, rule: PushRule, commit: CheckedCommit) -> Iterator[str]:
    if rule.commit_committer_check:
        owner = database.read(lambda db: commit_user_or_none(db, commit.committer_email))
        if owner is None or owner.id != actor.user_id:
            yield f"You cannot push commits for '{commit.committer_email}'. Use one of your own email addresses."
    if rule.commit_committer_name_check and actor.known:
        name = database.read(lambda db: find_user(db, actor.user_id).name)
        if commit.committer_name != name:
            yield f"Your git username is inconsistent with your account name: use '{name}'."


def _name_refusals(rule: PushRule, path: str) -> Iterator[str]:
    if rule.file_name_regex and matches(path, rule.file_name_regex):
        yield f"File name {path} was prohibited by the pattern '{rule.file_name_regex}'."
    if rule.prevent_secrets and _SECRETS.search(path):
        yield f"File name {path} was prohibited, because such files usually contain secrets."
