"""Secrets of jobs as runners get them."""

from typing import Any

import pytest

from tests.ci.pipelines.files import commit_files, list_pipelines
from tests.ci.runner_client import INFO, RunnerClient, project_runner
from tests.client import Api, Make
from tests.factories import Project, make_project

JOB = """
deploy:
  script: [deploy]
  id_tokens: {FIRST: {aud: a}, SECOND: {aud: b}}
  secrets:
    SHORT: {vault: production/db/password@ops, file: false, token: $SECOND}
    LONG:
      vault: {engine: {name: kv-v1, path: own}, path: a, field: b}
    GCP: {gcp_secret_manager: {name: n, version: 2}}
    AZURE: {azure_key_vault: {name: n}}
  variables: {VAULT_SERVER_URL: "https://vault.example.org", VAULT_AUTH_ROLE: role, %s}
"""
OTHER_PROVIDERS = (
    "GCP_PROJECT_NUMBER: 12, GCP_WORKLOAD_IDENTITY_FEDERATION_POOL_ID: pool, "
    "GCP_WORKLOAD_IDENTITY_FEDERATION_PROVIDER_ID: provider, "
    "AZURE_KEY_VAULT_SERVER_URL: https://azure.example.org, AZURE_CLIENT_ID: client, AZURE_TENANT_ID: tenant"
)


def _runner(make: Make, project: Project, **features: bool) -> RunnerClient:
    runner = project_runner(make, project.id)
    runner.info = {**INFO, "features": {"cancel_gracefully": True, **features}}
    return runner


def _only_job(make: Make, project: Project) -> dict[str, Any]:
    (pipeline,) = list_pipelines(make, project)
    (job,) = make.api.get(f"{project.url}/pipelines/{pipeline['id']}/jobs", make.root).json()
    shown: dict[str, Any] = job
    return shown


def test_secrets_with_their_servers(api: Api, make: Make) -> None:
    project = make_project(make)
    text = JOB % OTHER_PROVIDERS
    assert api.post(f"{project.url}/ci/lint", make.root, content=text).json()["warnings"] == []
    commit_files(make, project, {".gitlab-ci.yml": text})
    job = _runner(make, project, vault_secrets=True).must_take()
    auth = {"name": "jwt", "path": "jwt", "data": {"jwt": "$SECOND", "role": "role"}}
    server = {"url": "https://vault.example.org", "namespace": "", "auth": auth}
    default = {**server, "auth": {**auth, "data": {"jwt": "${FIRST}", "role": "role"}}}
    assert job.payload["secrets"] == {
        "SHORT": {
            "file": False,
            "vault": {
                "engine": {"name": "kv-v2", "path": "ops"},
                "path": "production/db",
                "field": "password",
                "server": server,
            },
        },
        "LONG": {"vault": {"engine": {"name": "kv-v1", "path": "own"}, "path": "a", "field": "b", "server": default}},
        "GCP": {
            "gcp_secret_manager": {
                "name": "n",
                "version": "2",
                "server": {
                    "project_number": "12",
                    "workload_identity_federation_pool_id": "pool",
                    "workload_identity_federation_provider_id": "provider",
                    "jwt": "${FIRST}",
                },
            }
        },
        "AZURE": {
            "azure_key_vault": {
                "name": "n",
                "version": "",
                "server": {
                    "url": "https://azure.example.org",
                    "client_id": "client",
                    "tenant_id": "tenant",
                    "jwt": "${FIRST}",
                },
            }
        },
    }


def test_secrets_need_a_server_and_a_runner_that_fetches_them(make: Make) -> None:
    project = make_project(make)
    commit_files(make, project, {".gitlab-ci.yml": JOB % "OTHER: x"})
    assert _runner(make, project, vault_secrets=True).take() is None
    assert _only_job(make, project)["failure_reason"] == "secrets_provider_not_found"
    second = make_project(make)
    commit_files(make, second, {".gitlab-ci.yml": JOB % OTHER_PROVIDERS})
    assert _runner(make, second).take() is None
    assert _only_job(make, second)["failure_reason"] == "runner_unsupported"


@pytest.mark.parametrize(
    ("secret", "error"),
    [
        ("{akeyless: {name: x}}", "config uses a provider that this server does not support: akeyless"),
        (
            "{file: true}",
            "config must use exactly one of these keys: vault, gcp_secret_manager, azure_key_vault",
        ),
        ("{vault: {path: a, field: b}}", ":vault config missing required keys: engine"),
        (
            "{vault: password}",
            ":vault config should be the path of a secret and a field, such as production/db/password@ops",
        ),
        ("{gcp_secret_manager: {version: 1}}", ":gcp_secret_manager name can't be blank"),
    ],
)
def test_invalid_secrets(api: Api, make: Make, secret: str, error: str) -> None:
    result = api.post("/ci/lint", make.root, content=f"job: {{script: x, secrets: {{S: {secret}}}}}\n").json()
    separator = "" if error.startswith(":") else " "
    assert [each for each in result["errors"] if each.startswith(f"jobs:job:secrets:s{separator}{error}")], result


def test_secrets_without_a_token_are_a_warning(api: Api, make: Make) -> None:
    result = api.post("/ci/lint", make.root, content="job: {script: x, secrets: {S: {vault: a/b}}}\n").json()
    assert result["warnings"] == [
        "jobs:job uses secrets without id_tokens, so the runner cannot sign in to the provider"
    ]
