"""Secrets that a runner fetches from Vault or another provider before it executes a job."""

from collections.abc import Mapping
from typing import Any

from ingot.ci.job_records.tables import JobOptions

_DEFAULT_AUTH_PATH = "jwt"


class SecretsProviderMissing(Exception):
    """The variables with the address of a provider do not exist."""


def runner_secrets(options: JobOptions, variables: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Return the secrets of a job with the addresses of their providers, which variables contain.

    Raise SecretsProviderMissing if a provider has no address. The runner inserts the token, whose name is sent.
    """
    default = next((f"${{{name}}}" for name in options.id_tokens), "")
    return {
        name: _with_server(secret, str(secret.get("token") or default), variables)
        for name, secret in options.secrets.items()
    }


def _with_server(secret: Mapping[str, Any], token: str, variables: Mapping[str, str]) -> dict[str, Any]:
    sent: dict[str, Any] = {} if secret.get("file") is None else {"file": secret["file"]}
    if secret.get("vault") is not None:
        return {**sent, "vault": {**secret["vault"], "server": _vault_server(token, variables)}}
    if secret.get("gcp_secret_manager") is not None:
        return {
            **sent,
            "gcp_secret_manager": {**_named(secret["gcp_secret_manager"]), "server": _gcp_server(token, variables)},
        }
    return {**sent, "azure_key_vault": {**_named(secret["azure_key_vault"]), "server": _azure_server(token, variables)}}


def _named(secret: Mapping[str, Any]) -> dict[str, Any]:
    """Return the name of a secret and its version, which runners expect as text."""
    version = secret.get("version")
    return {"name": secret["name"], "version": "" if version is None else str(version)}


def _required(variables: Mapping[str, str], name: str) -> str:
    value = variables.get(name, "")
    if not value:
        raise SecretsProviderMissing
    return value


def _vault_server(token: str, variables: Mapping[str, str]) -> dict[str, Any]:
    role = variables.get("VAULT_AUTH_ROLE")
    return {
        "url": _required(variables, "VAULT_SERVER_URL"),
        "namespace": variables.get("VAULT_NAMESPACE", ""),
        "auth": {
            "name": "jwt",
            "path": variables.get("VAULT_AUTH_PATH") or _DEFAULT_AUTH_PATH,
            "data": {"jwt": token, **({"role": role} if role else {})},
        },
    }


def _gcp_server(token: str, variables: Mapping[str, str]) -> dict[str, Any]:
    return {
        "project_number": _required(variables, "GCP_PROJECT_NUMBER"),
        "workload_identity_federation_pool_id": _required(variables, "GCP_WORKLOAD_IDENTITY_FEDERATION_POOL_ID"),
        "workload_identity_federation_provider_id": _required(
            variables, "GCP_WORKLOAD_IDENTITY_FEDERATION_PROVIDER_ID"
        ),
        "jwt": token,
    }


def _azure_server(token: str, variables: Mapping[str, str]) -> dict[str, Any]:
    return {
        "url": _required(variables, "AZURE_KEY_VAULT_SERVER_URL"),
        "client_id": variables.get("AZURE_CLIENT_ID", ""),
        "tenant_id": variables.get("AZURE_TENANT_ID", ""),
        "jwt": token,
    }
