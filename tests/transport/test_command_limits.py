"""Rate limit of git commands over SSH."""

import subprocess
from collections.abc import Callable

from tests.client import Make, User
from tests.conftest import Instance
from tests.factories import make_project
from tests.transport.conftest import BASE, over_ssh


def test_git_commands_over_ssh(
    make: Make, instance: Instance, limit_rates: Callable[..., None], ssh_key: Callable[[User], dict[str, str]]
) -> None:
    owner = make.user()
    projects = [make_project(make, owner), make_project(make, owner)]
    env = BASE | ssh_key(owner)
    limit_rates(gitlab_shell_operation_limit=1, rate_limiting_response_text="Slow down, please")

    def list_refs(path: str) -> subprocess.CompletedProcess[str]:
        url = over_ssh(instance, path)
        return subprocess.run(["git", "ls-remote", url], env=env, capture_output=True, text=True, check=False)

    refused = next(answer for answer in (list_refs(projects[0].path) for _ in range(100)) if answer.returncode)
    assert "Slow down, please" in refused.stderr
    assert list_refs(projects[1].path).returncode == 0, "Each project is counted apart."
