"""State changes of deploy tokens."""

import re
import secrets

from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.errors import Invalid, too_long_message
from ingot.projects.deploy_tokens.params import CreateDeployToken
from ingot.projects.deploy_tokens.queries import find_deploy_token
from ingot.projects.deploy_tokens.tables import DeployToken, deploy_tokens
from ingot.projects.members.queries import MemberSource

MAX_LENGTH = 255
TOKEN_PREFIX = "ingotd-"  # noqa: S105 - A public prefix, not a secret.
_USERNAME_PATTERN = re.compile(r"[A-Za-z0-9.+_-]+")


def create_deploy_token(
    db: Connection, actor: Actor, source: MemberSource, params: CreateDeployToken
) -> tuple[DeployToken, str]:
    """Create a token and return it with its secret, which is not stored; raise Invalid for invalid fields."""
    errors: dict[str, list[str]] = {}
    if not params.name.strip():
        errors["name"] = ["can't be blank"]
    elif len(params.name) > MAX_LENGTH:
        errors["name"] = [too_long_message(MAX_LENGTH)]
    if not params.scopes:
        errors["scopes"] = ["can't be blank"]
    if params.username and len(params.username) > MAX_LENGTH:
        errors["username"] = [too_long_message(MAX_LENGTH)]
    elif params.username and not _USERNAME_PATTERN.fullmatch(params.username):
        errors["username"] = ["can contain only letters, digits, '_', '-', '+' and '.'"]
    if errors:
        raise Invalid(**errors)
    secret = TOKEN_PREFIX + secrets.token_urlsafe(24)
    token_id = db.insert(
        deploy_tokens,
        project_id=source.id if source.kind == "project" else None,
        group_id=source.id if source.kind == "group" else None,
        creator_id=actor.user_id,
        name=params.name.strip(),
        given_username=params.username or None,
        scopes=" ".join(dict.fromkeys(params.scopes)),
        digest=db.vault.digest(secret),
        expires_at=params.expires_at,
        created_at=db.now,
    )
    return find_deploy_token(db, source, token_id), secret


def delete_deploy_token(db: Connection, token: DeployToken) -> None:
    """Delete a token, which revokes it at once."""
    db.delete(deploy_tokens, token.id)
