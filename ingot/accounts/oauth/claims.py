"""OpenID Connect claims and the discovery document."""

from typing import Any

from ingot.accounts.instance.settings import current_settings
from ingot.accounts.users.tables import User
from ingot.core.access.scopes import MCP_SCOPE
from ingot.core.db.connection import Connection

MCP_PATH = "/api/v4/mcp"


def user_claims(db: Connection, user: User, scopes: set[str], base: str) -> dict[str, Any]:
    """Return the claims about a user that the scopes allow.

    The email address needs its own scope because applications trust it to identify users. ``email_verified`` is false
    on an instance that requires no confirmation of addresses.
    """
    claims: dict[str, Any] = {"sub": str(user.id)}
    if scopes & {"openid", "profile"}:
        claims |= {
            "name": user.name,
            "nickname": user.username,
            "preferred_username": user.username,
            "profile": f"{base}/{user.username}",
        }
        if user.website_url:
            claims["website"] = user.website_url
        if user.avatar_id is not None and user.avatar_file is not None:
            claims["picture"] = f"{base}/uploads/-/system/user/avatar/{user.id}/{user.avatar_file}"
    if "email" in scopes:
        verified = user.proven_at is not None and current_settings(db).send_user_confirmation_email
        claims |= {"email": user.email, "email_verified": verified}
    return claims


def discovery_document(base: str, scopes: tuple[str, ...], *, registers_clients: bool) -> dict[str, Any]:
    """Return the OpenID Connect discovery document, which is that of RFC 8414 too."""
    registration = {"registration_endpoint": f"{base}/oauth/register"} if registers_clients else {}
    return {
        "issuer": base,
        "authorization_endpoint": f"{base}/oauth/authorize",
        "token_endpoint": f"{base}/oauth/token",
        "revocation_endpoint": f"{base}/oauth/revoke",
        "introspection_endpoint": f"{base}/oauth/introspect",
        "userinfo_endpoint": f"{base}/oauth/userinfo",
        "jwks_uri": f"{base}/oauth/discovery/keys",
        "scopes_supported": list(scopes),
        "response_types_supported": ["code", "token"],
        "response_modes_supported": ["query", "fragment"],
        "grant_types_supported": ["authorization_code", "implicit", "password", "refresh_token"],
        "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post", "none"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["RS256"],
        "claim_types_supported": ["normal"],
        "claims_supported": [
            *("iss", "sub", "aud", "exp", "iat", "auth_time", "nonce", "at_hash"),
            *("name", "nickname", "preferred_username", "profile", "website", "picture", "email", "email_verified"),
        ],
        # Confidential applications may also use "plain", but no client should choose it.
        "code_challenge_methods_supported": ["S256"],
        **registration,
    }


def mcp_resource_document(base: str) -> dict[str, Any]:
    """Return the metadata of the endpoint of the Model Context Protocol as a protected resource (RFC 9728)."""
    return {
        "resource": f"{base}{MCP_PATH}",
        "resource_name": "Ingot",
        "authorization_servers": [base],
        "scopes_supported": [MCP_SCOPE],
        "bearer_methods_supported": ["header"],
    }
