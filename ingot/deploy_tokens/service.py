"""Making and removing deploy tokens."""

import re
import secrets

from ingot.access.actor import Actor
from ingot.db.connection import Connection
from ingot.deploy_tokens.params import CreateDeployToken
from ingot.deploy_tokens.queries import find_deploy_token
from ingot.deploy_tokens.tables import DeployToken, deploy_tokens
from ingot.errors import Invalid, too_long
from ingot.groups.members.queries import Source

MOST_CHARACTERS = 255
PREFIX = "ingotd-"
_USERNAME = re.compile(r"[A-Za-z0-9.+_-]+")


def create_deploy_token(
    db: Connection, actor: Actor, source: Source, wanted: CreateDeployToken
) -> tuple[DeployToken, str]:
    """Make a token; its secret is told here and never again."""
    errors: dict[str, list[str]] = {}
    if not wanted.name.strip():
        errors["name"] = ["can't be blank"]
    elif len(wanted.name) > MOST_CHARACTERS:
        errors["name"] = [too_long(MOST_CHARACTERS)]
    if not wanted.scopes:
        errors["scopes"] = ["can't be blank"]
    if wanted.username and len(wanted.username) > MOST_CHARACTERS:
        errors["username"] = [too_long(MOST_CHARACTERS)]
    elif wanted.username and not _USERNAME.fullmatch(wanted.username):
        errors["username"] = ["can contain only letters, digits, '_', '-', '+' and '.'"]
    if errors:
        raise Invalid(**errors)
    secret = PREFIX + secrets.token_urlsafe(24)
    token_id = db.insert(
        deploy_tokens,
        project_id=source.id if source.kind == "project" else None,
        group_id=source.id if source.kind == "group" else None,
        creator_id=actor.user_id,
        name=wanted.name.strip(),
        given_username=wanted.username or None,
        scopes=" ".join(dict.fromkeys(wanted.scopes)),
        digest=db.vault.digest(secret),
        expires_at=wanted.expires_at,
        created_at=db.now,
    )
    return find_deploy_token(db, source, token_id), secret


def delete_deploy_token(db: Connection, token: DeployToken) -> None:
    """Let a token open nothing from now on."""
    db.delete(deploy_tokens, token.id)
