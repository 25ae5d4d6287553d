"""Secrets that jobs get from Vault, with a real server and the built-in runner or gitlab-runner."""

from collections.abc import Iterator

import pytest

from tests.ci.own_runner.flow_server import BINARY, FlowServer, flow_server
from tests.ci.own_runner.vault_server import AUDIENCE, vault_server

FILE = """
default:
  id_tokens: {VAULT_TOKEN: {aud: %s}}
variables: {VAULT_AUTH_ROLE: $ROLE, ROLE: deploy}
read:
  secrets:
    AS_FILE: {vault: production/db/password@ops}
    AS_VALUE: {vault: production/db/password@ops, file: false}
    PORT:
      vault: {engine: {name: kv-v1, path: old}, path: production/db, field: port}
      file: false
  script:
    - test "$(cat "$AS_FILE")" = "$AS_VALUE"
    - test "$AS_VALUE" = "correct horse $(echo battery)"
    - echo "the value is $AS_VALUE and its length ${#AS_VALUE}, port $((PORT + 1))"
absent_field:
  secrets: {S: {vault: production/db/user@ops}}
  script: [echo executed]
absent_secret:
  secrets: {S: {vault: production/absent/user@ops}}
  script: [echo executed]
wrong_role:
  variables: {VAULT_AUTH_ROLE: other}
  secrets: {S: {vault: production/db/password@ops}}
  script: [echo executed]
wrong_audience:
  id_tokens: {OTHER: {aud: "https://other.example.org"}}
  secrets: {S: {vault: production/db/password@ops}}
  script: [echo executed]
"""


@pytest.fixture(scope="module")
def flow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlowServer]:
    """Yield a server with a runner."""
    with flow_server(tmp_path_factory.mktemp("flow")) as server:
        yield server


def test_secrets_of_vault(flow: FlowServer) -> None:
    url = flow.project("secrets", {"README.md": "x"})
    with vault_server(flow.server.url, int(url.rpartition("/")[2])) as vault:
        flow.call("POST", f"{url}/variables", 201, key="VAULT_SERVER_URL", value=vault)
        flow.commit(url, {".gitlab-ci.yml": FILE % AUDIENCE})
        pipeline = flow.newest_pipeline(url)
        flow.wait_for_pipeline(url, pipeline["id"])
    jobs = flow.jobs(url, pipeline["id"])
    logs = {name: flow.trace(url, job) for name, job in jobs.items()}
    assert jobs["read"]["status"] == "success", logs["read"]
    assert "the value is [MASKED] and its length 21, port 5433" in logs["read"]
    refused = {name for name, job in jobs.items() if job.get("failure_reason") == "runner_system_failure"}
    assert refused == {"absent_field", "absent_secret", "wrong_role", "wrong_audience"}, jobs
    assert not any("executed" in logs[name] for name in refused)
    if not BINARY:
        assert "S: the secret ops/data/production/db has no field user" in logs["absent_field"]
        assert "S: there is no secret ops/data/production/absent" in logs["absent_secret"]
        assert 'with 400: role "other" could not be found' in logs["wrong_role"]


@pytest.mark.skipif(bool(BINARY), reason="gitlab-runner fetches secrets of other providers")
def test_other_providers_are_refused(flow: FlowServer) -> None:
    file = """
job:
  id_tokens: {TOKEN: {aud: x}}
  variables: {AZURE_KEY_VAULT_SERVER_URL: "https://azure.example.org"}
  secrets: {S: {azure_key_vault: {name: x}}}
  script: [echo executed]
"""
    url = flow.project("other-secrets", {"README.md": "x"})
    flow.commit(url, {".gitlab-ci.yml": file})
    pipeline = flow.newest_pipeline(url)
    flow.wait_for_pipeline(url, pipeline["id"])
    job = flow.jobs(url, pipeline["id"])["job"]
    assert "S: this runner fetches secrets from Vault only" in flow.trace(url, job)
    assert job["failure_reason"] == "runner_system_failure"
