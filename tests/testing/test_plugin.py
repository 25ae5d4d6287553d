"""Plugin for pytest: fixtures, isolation, and one server per process of xdist."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.server.process import ROOT, environment

SUITE = """
import subprocess
import urllib.request

import pytest

from pytest_ingot import FaultInjection


@pytest.mark.parametrize("number", [1, 2])
def test_projects(ingot, ingot_project, ingot_user, number):
    project = ingot.gitlab.projects.get(ingot_project.id)
    project.issues.create({"title": "One"})
    assert [issue.title for issue in project.issues.list(get_all=True)] == ["One"]
    if EMPTY:
        assert [each.id for each in ingot.gitlab.projects.list(get_all=True)] == [ingot_project.id]
    assert ingot.server.gitlab(ingot_user.token).auth() is None
    refs = subprocess.check_output(["git", "ls-remote", ingot_project.git_url], text=True)
    assert f"refs/heads/{ingot_project.default_branch}" in refs


def test_faults_hooks_and_requests(ingot, ingot_project):
    project = ingot.gitlab.projects.get(ingot_project.id)
    project.hooks.create({"url": ingot.server.hook_url, "issues_events": True, "push_events": False})
    project.issues.create({"title": "Two"})
    ingot.server.run_jobs()
    (delivery,) = ingot.server.hooks(event="Issue Hook", wait=30)
    assert delivery.body["object_attributes"]["title"] == "Two"
    ingot.server.add_fault(FaultInjection(path="/version", times=1, status=503))
    with pytest.raises(urllib.request.HTTPError) as failure:
        urllib.request.urlopen(f"{ingot.api_url}/version")
    failure.value.close()
    (request,) = ingot.server.requests(path="/version")
    assert request.status == 503
    assert ingot.server.set_clock("2031-01-01T00:00:00Z", frozen=True) == "2031-01-01T00:00:00.000Z"
    ingot.server.clear_faults()
    ingot.server.set_clock(frozen=False)
"""


@pytest.mark.parametrize(("isolation", "processes"), [("reset", 2), ("namespace", 0)])
def test_a_suite_with_the_plugin_passes(tmp_path: Path, isolation: str, processes: int) -> None:
    (tmp_path / "test_client.py").write_text(f"EMPTY = {isolation == 'reset'}\n{SUITE}")
    (tmp_path / "pytest.ini").write_text(f"[pytest]\ningot_isolation = {isolation}\n")
    plugin = [] if _is_installed() else ["-p", "pytest_ingot.plugin"]
    workers = ["-n", str(processes)] if processes else ["-p", "no:xdist"]
    words = [sys.executable, "-m", "pytest", "-q", *plugin, *workers, "-p", "no:cacheprovider"]
    done = subprocess.run(
        words, cwd=tmp_path, env=environment(PYTHONPATH=str(ROOT)), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 passed" in done.stdout


def _is_installed() -> bool:
    """Return whether pytest finds the plugin by its entry point."""
    from importlib.metadata import entry_points

    return any(entry.value == "pytest_ingot.plugin" for entry in entry_points(group="pytest11"))


def test_the_plugin_loads_nothing_of_the_server() -> None:
    """Every run of pytest imports it, in projects that do not use it too."""
    script = (
        "import sys, pytest_ingot.plugin, pytest_ingot.server;"
        "print([name for name in sys.modules if name in ('sqlalchemy', 'msgspec', 'uvicorn', 'ingot.core.settings')])"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
