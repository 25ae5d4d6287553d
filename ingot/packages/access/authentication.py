"""Authentication of clients of packages, which send tokens of any kind in the same way."""

from ingot.accounts.authentication import authenticate
from ingot.ci.job_records.tables import TOKEN_USERNAME
from ingot.ci.job_tokens.authentication import actor_by_job_token
from ingot.core.access.actor import Actor, DeployTokenIdentity
from ingot.core.access.credentials import Credentials
from ingot.core.db.connection import Connection
from ingot.core.errors import Unauthenticated
from ingot.projects.deploy_tokens.queries import deploy_token_by_secret
from ingot.projects.deploy_tokens.tables import DeployToken


def actor_by_client_secret(db: Connection, username: str | None, secret: str) -> Actor:
    """Return the caller with an access token, a deploy token or the token of a running job.

    The username counts for deploy tokens only, if one is sent. Raise Unauthenticated for any other secret.
    """
    if username == TOKEN_USERNAME:
        try:
            return actor_by_job_token(db, secret)
        except Unauthenticated:  # Clients send access tokens under this name too.
            return authenticate(db, Credentials(token=secret))
    token = deploy_token_by_secret(db, secret)
    if token is not None and username in (None, token.username):
        return deploy_token_actor(token)
    try:
        return authenticate(db, Credentials(token=secret))
    except Unauthenticated:
        if username is not None:
            raise
    return actor_by_job_token(db, secret)


def deploy_token_actor(token: DeployToken) -> Actor:
    """Return the caller with a deploy token, who is no user."""
    identity = DeployTokenIdentity(token.id, token.project_id, token.group_id, frozenset(token.scopes.split()))
    return Actor(external=True, via="deploy", username=token.username, deploy_token=identity)
