"""Places of the server: this environment, another one, a container and a URL; the package needs no other one."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_ingot import HookDelivery, Server, ServerFailed, ServerNotFound
from pytest_ingot.locations import Address, Image, Program, find_server
from tests.server.process import ROOT, TOKEN, environment
from tests.testing.temporary_server import temporary_server

SECRET = "secret-of-the-control-endpoints"
PACKAGE = ROOT / "pytest-ingot" / "src"
USE = """
import sys
from pytest_ingot import Server
with Server(ssh=True) as server:
    created = server.seed({"users": [{"username": "ada"}], "projects": [{"path": "hello", "owner": "ada"}]})
    print(created.users[0].username, created.projects[0].path_with_namespace, server.ssh_url.split(":")[1])
print(sorted({name.partition(".")[0] for name in sys.modules} & {"ingot", "pytest", "sqlalchemy", "msgspec"}))
"""
RUNTIME = f"""#!{sys.executable}
# Container runtime of which the containers are processes; the port of the container is one that is free.
import os, pathlib, socket, sys
ports = pathlib.Path(__file__).parent / "ports"
command, *words = sys.argv[1:]
if command == "image":
    sys.exit(words != ["inspect", "ingot"])
if command == "port":
    print("127.0.0.1:" + dict(line.split() for line in ports.read_text().splitlines())[words[1]])
    sys.exit()
lines = []
for port in ("8080", "2222"):
    with socket.create_server(("127.0.0.1", 0)) as free:
        lines.append((port, str(free.getsockname()[1])))
ports.write_text("".join(f"{{inside}}/tcp {{outside}}\\n" for inside, outside in lines))
given = [words[at + 1] for at, word in enumerate(words) if word == "--env"]
kept = {{name: value for name, value in os.environ.items() if name in given or not name.startswith("INGOT_")}}
kept["PYTHONPATH"] = {str(ROOT)!r}
arguments = [dict(lines).get(word, word) for word in words[words.index("ingot") + 1 :]]
os.execve(sys.executable, [sys.executable, "-m", "ingot", *arguments], kept)
"""


def _program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def _ingot(path: Path) -> Path:
    return _program(path, f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m ingot "$@"\n')


def _run_without_packages(folder: Path, path: Path) -> list[str]:
    """Run the example in an interpreter that finds the package and the standard library only; return what it prints."""
    found = f"{path}:/usr/bin:/bin"
    variables = environment(PYTHONPATH=str(PACKAGE), PATH=found, HOME=str(folder), TMPDIR=str(folder))
    done = subprocess.run(
        [sys.executable, "-S", "-c", USE], cwd=folder, env=variables, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_the_package_alone_uses_the_server_of_another_environment(tmp_path: Path) -> None:
    _ingot(tmp_path / "tools" / "bin" / "ingot")
    assert _run_without_packages(tmp_path, tmp_path / "tools" / "bin") == ["ada ada/hello //git@127.0.0.1", "[]"]


def test_the_package_alone_uses_the_server_of_a_container(tmp_path: Path) -> None:
    _program(tmp_path / "bin" / "podman", RUNTIME)
    assert _run_without_packages(tmp_path, tmp_path / "bin") == ["ada ada/hello //git@127.0.0.1", "[]"]


def test_a_server_at_a_url_needs_its_two_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secrets = {"INGOT_TESTING_SECRET": SECRET, "INGOT_ROOT_TOKEN": TOKEN}
    with temporary_server(tmp_path / "server", "--testing", "--host", "0.0.0.0", **secrets) as running:
        assert running.url.startswith("http://127.0.0.1:"), "the address by which this machine reaches it"
        for name in secrets:
            monkeypatch.delenv(name, raising=False)
        with pytest.raises(ServerFailed, match="INGOT_TESTING_SECRET"):
            Server(running.url).start()
        for name, value in secrets.items():
            monkeypatch.setenv(name, value)
        with pytest.raises(ServerFailed, match="options there"):
            Server(running.url, profile="9.4").start()
        with Server(running.url) as server:
            project = server.seed({"projects": [{"path": "code", "hooks": [{"events": ["issues_events"]}]}]}).projects[
                0
            ]
            assert project.hooks[0].url.startswith(running.url)
            first = _deliver(server, running.api, project.id, "One", None)
            second = _deliver(server, running.api, project.id, "Two", first)
            assert [each.id for each in server.hooks()] == [first.id, second.id]
            assert server.log() == "" and server.pid == 0
        assert running.api("GET", "/user").status_code == 200, "it continues"


def _deliver(server: Server, api: object, project_id: int, title: str, after: HookDelivery | None) -> HookDelivery:
    """Create an issue, and wait for its delivery after an earlier one."""
    assert callable(api)
    api("POST", f"/projects/{project_id}/issues", json={"title": title})
    (delivery,) = server.hooks("Issue Hook", after=after, wait=60)
    assert delivery.body["object_attributes"]["title"] == title
    return delivery


def test_the_choice_decides_where_the_server_is_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = str(_ingot(tmp_path / "tools" / "bin" / "ingot"))
    for chosen in (program, str(tmp_path / "tools")):
        assert find_server(chosen) == Program((program,))
    for chosen in ("", "here"):
        assert find_server(chosen) == Program((sys.executable, "-m", "ingot"))
    assert find_server("https://test.example.org/") == Address("https://test.example.org")
    runtime = str(_program(tmp_path / "bin" / "docker", "#!/bin/sh\n"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert find_server("image:registry.example.org/ingot:1") == Image(runtime, "registry.example.org/ingot:1")
    monkeypatch.setenv("PATH", os.devnull)
    with pytest.raises(ServerNotFound, match="podman"):
        find_server("image:ingot")
    with pytest.raises(ServerNotFound, match="/nowhere is neither"):
        find_server("/nowhere")
