"""Secrets that a job gets from HashiCorp Vault or OpenBao, over their HTTP interface."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar
from urllib.parse import quote, urlsplit

import msgspec

from ingot.runner.assignment import SecretSpec, VariableSpec, VaultSecret, VaultServer
from ingot.runner.http import NoResponse, Reply, exchange_with_retries, json_body

_KEY_VALUE_2 = "kv-v2"
_ENGINES = (_KEY_VALUE_2, "kv-v1", "generic")
_MAX_ERROR_LENGTH = 300

T = TypeVar("T")


class SecretFailed(Exception):
    """A secret of a job cannot be had."""


class _Auth(msgspec.Struct, frozen=True):
    client_token: str


class _Login(msgspec.Struct, frozen=True):
    auth: _Auth


class _Content(msgspec.Struct, frozen=True):
    data: dict[str, Any] = {}


class _Errors(msgspec.Struct, frozen=True):
    errors: list[str] = []


def resolve_secrets(
    secrets: Mapping[str, SecretSpec], expand: Callable[[str], str], log: Callable[[str], None]
) -> list[VariableSpec]:
    """Return the secrets of a job as variables; raise SecretFailed if one cannot be had.

    ``expand`` inserts the variables of the job, among them the token with which it signs in.
    """
    tokens: dict[str, str] = {}
    variables = []
    for name, secret in secrets.items():
        vault = secret.vault
        if vault is None:
            raise SecretFailed(f"{name}: this runner fetches secrets from Vault only")
        log(f"Resolving secret {name}...")
        server = _expanded(vault.server, expand)
        key = msgspec.json.encode(server).decode()
        try:
            token = tokens[key] = tokens.get(key) or _sign_in(server)
            value = _read_field(server, token, vault, expand)
        except SecretFailed as error:
            raise SecretFailed(f"{name}: {error}") from None
        variables.append(VariableSpec(name, value, file=secret.file is not False, masked=True, raw=True))
    return variables


def _expanded(server: VaultServer, expand: Callable[[str], str]) -> VaultServer:
    data = {key: expand(value) if isinstance(value, str) else value for key, value in server.auth.data.items()}
    auth = msgspec.structs.replace(server.auth, path=expand(server.auth.path), data=data)
    url = expand(server.url).rstrip("/")
    if urlsplit(url).scheme not in ("http", "https"):
        raise SecretFailed("the address of Vault (VAULT_SERVER_URL) is no URL of HTTP or HTTPS")
    return VaultServer(url, auth, expand(server.namespace))


def _sign_in(server: VaultServer) -> str:
    if server.auth.name != "jwt":
        raise SecretFailed(f"the authentication method {server.auth.name} is not supported")
    reply = _request(server, "POST", f"/v1/auth/{_path(server.auth.path)}/login", None, json_body(server.auth.data))
    return _decoded(reply, _Login, "sign-in").auth.client_token


def _read_field(server: VaultServer, token: str, secret: VaultSecret, expand: Callable[[str], str]) -> str:
    """Return a field of a secret; the key-value engine of version 2 has an envelope around the fields."""
    kind = expand(secret.engine.name)
    if kind not in _ENGINES:
        raise SecretFailed(f"the secrets engine {kind} is not supported; use one of {', '.join(_ENGINES)}")
    engine, path, field = _path(expand(secret.engine.path)), _path(expand(secret.path)), expand(secret.field)
    place = f"{engine}/data/{path}" if kind == _KEY_VALUE_2 else f"{engine}/{path}"
    reply = _request(server, "GET", f"/v1/{place}", token, None)
    if reply.status == 404:
        raise SecretFailed(f"there is no secret {place}")
    data = _decoded(reply, _Content, f"request for {place}").data
    fields = data.get("data") if kind == _KEY_VALUE_2 else data
    value = fields.get(field) if isinstance(fields, dict) else None
    if value is None:
        raise SecretFailed(f"the secret {place} has no field {field}")
    return value if isinstance(value, str) else json_body(value).decode()


def _path(text: str) -> str:
    return quote(text.strip("/"), safe="/")


def _request(server: VaultServer, method: str, path: str, token: str | None, body: bytes | None) -> Reply:
    headers = {"Content-Type": "application/json", "X-Vault-Request": "true"}
    if server.namespace:
        headers["X-Vault-Namespace"] = server.namespace
    if token is not None:
        headers["X-Vault-Token"] = token
    try:
        return exchange_with_retries(server.url, method, path, headers, body)
    except NoResponse as error:
        raise SecretFailed(f"Vault gave no response: {error}") from error


def _decoded(reply: Reply, kind: type[T], action: str) -> T:
    """Return the content of a response; raise SecretFailed with Vault's reasons if there is none."""
    try:
        if reply.status == 200:
            return msgspec.json.decode(reply.body, type=kind)
        reasons = "; ".join(msgspec.json.decode(reply.body, type=_Errors).errors)
    except msgspec.DecodeError:
        reasons = "the response is not that of Vault"
    raise SecretFailed(f"Vault answered the {action} with {reply.status}: {reasons[:_MAX_ERROR_LENGTH]}")
