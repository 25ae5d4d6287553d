"""A real client of the HTTP backend: OpenTofu or Terraform, if one is installed."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.client import Make
from tests.conftest import Instance
from tests.factories import make_project

CLIENT = os.environ.get("INGOT_TEST_TOFU") or shutil.which("tofu") or shutil.which("terraform")
CONFIGURATION = """
terraform {
  backend "http" {
    lock_method = "POST"
    unlock_method = "DELETE"
  }
}
resource "terraform_data" "one" { input = "WORD" }
output "it" { value = terraform_data.one.output }
"""


@pytest.mark.skipif(CLIENT is None, reason="needs OpenTofu or Terraform")
def test_states_are_stored_locked_and_read(make: Make, instance: Instance, tmp_path: Path) -> None:
    project = make_project(make)
    url = f"{project.url}/terraform/state/production"
    address = f"{instance.url}/api/v4{url}"
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "CHECKPOINT_DISABLE": "1",
        "TF_HTTP_ADDRESS": address,
        "TF_HTTP_LOCK_ADDRESS": f"{address}/lock",
        "TF_HTTP_UNLOCK_ADDRESS": f"{address}/lock",
        "TF_HTTP_USERNAME": "root",
        "TF_HTTP_PASSWORD": make.root.token,
    }

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [str(CLIENT), *words]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)

    (tmp_path / "main.tf").write_text(CONFIGURATION.replace("WORD", "first"))
    initialized = run("init", "-input=false", "-no-color")
    assert initialized.returncode == 0, initialized.stderr
    assert run("apply", "-auto-approve", "-no-color").returncode == 0
    assert run("output", "-raw", "it").stdout == "first"
    assert make.api.post(f"{url}/lock", make.root, ID="held").status_code == 200
    (tmp_path / "main.tf").write_text(CONFIGURATION.replace("WORD", "second"))
    locked = run("apply", "-auto-approve", "-no-color")
    assert locked.returncode != 0 and "held" in locked.stderr
    assert run("force-unlock", "-force", "-no-color", "held").returncode == 0
    assert run("apply", "-auto-approve", "-no-color").returncode == 0
    assert make.api.get(url, make.root).json()["outputs"]["it"]["value"] == "second"
    assert run("destroy", "-auto-approve", "-no-color").returncode == 0
    assert make.api.get(url, make.root).json()["resources"] == []
