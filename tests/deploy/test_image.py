"""Image of deploy/Containerfile, checked without a builder: its steps are run in a plain directory."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.free_ports import free_port
from tests.server.process import ROOT, environment, until
from tests.testing.test_wheel import link_source

TEXT = (ROOT / "deploy" / "Containerfile").read_text()


def test_the_server_is_not_root_and_keeps_its_data_in_the_volume() -> None:
    final = TEXT[TEXT.rindex("\nFROM ") :]
    assert "\nUSER ingot\n" in final and "\nVOLUME /data\n" in final and "INGOT_DATA=/data" in final
    assert final.index("USER ingot") < final.index("ENTRYPOINT")
    for name in re.findall(r"/source/([\w.-]+)", TEXT):
        assert (ROOT / name).exists(), name


def test_only_the_files_of_the_package_are_sent_to_the_build() -> None:
    """The folder may contain the data of a server."""
    copied = {
        word.rstrip("/")
        for words in re.findall(r"^COPY (?!--from)(.*) \S+$", TEXT, re.MULTILINE)
        for word in words.split()
    }
    rules = (ROOT / ".containerignore").read_text().split("\n")
    assert rules[1] == "*"
    assert {rule.removeprefix("!") for rule in rules if rule.startswith("!")} == copied
    assert (ROOT / ".dockerignore").read_text().split("\n") == rules


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="The list of files comes from git.")
def test_the_steps_build_a_server_that_runs_on_read_only_files(tmp_path: Path) -> None:
    """The directories of the image are replaced by temporary ones, and the code may not be written when it runs."""
    source, installed, data = tmp_path / "source", tmp_path / "opt", tmp_path / "data"
    link_source(source)
    here = {"/source": str(source), "/opt/ingot": str(installed), "/data": str(data)}
    _run_steps(_steps("build"), here)
    port = str(free_port())
    variables = dict(_replace(word, here).split("=") for word in _line("ENV").split())
    variables |= {"INGOT_HOST": "127.0.0.1", "INGOT_PORT": port, "INGOT_SSH_PORT": "0"}
    command = [_replace(word, here) for name in ("ENTRYPOINT", "CMD") for word in json.loads(_line(name))]
    before = _files(installed)
    assert any(file.suffix == ".cache" for file in before), "The templates are not compiled"
    with (tmp_path / "log").open("wb") as log:
        server = subprocess.Popen(command, env=environment(**variables), cwd=tmp_path, stdout=log, stderr=log)
    try:
        until("the health check", lambda: _is_healthy(here, port))
        assert httpx.get(f"http://127.0.0.1:{port}/users/sign_in").status_code == 200
    finally:
        server.terminate()
        assert server.wait(60) == 0, (tmp_path / "log").read_text()
    assert not _is_healthy(here, port)
    assert _files(installed) == before


def _steps(stage: str) -> str:
    """Return the shell command of a stage, with its continued lines."""
    text = TEXT[TEXT.index(f" AS {stage}") :]
    found = re.search(r"^RUN ((?:.*\\\n)*.*)", text, re.MULTILINE)
    assert found is not None
    return found[1]


def _run_steps(steps: str, paths: dict[str, str]) -> None:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-ec", _replace(steps, paths)],
        env=environment(PATH=path, PYTHONDONTWRITEBYTECODE=""),
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def _line(word: str) -> str:
    """Return the arguments of the last instruction with this name that has any."""
    found: list[str] = re.findall(rf"^{word} (.*)", TEXT, re.MULTILINE)
    return found[-1]


def _replace(text: str, paths: dict[str, str]) -> str:
    for inside, outside in paths.items():
        text = text.replace(inside, outside)
    return text


def _is_healthy(paths: dict[str, str], port: str) -> bool:
    words = json.loads(TEXT.split("HEALTHCHECK")[1].splitlines()[0].partition(" CMD ")[2])
    command = [_replace(word, paths).replace(":8080/", f":{port}/") for word in words]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _files(folder: Path) -> dict[Path, int]:
    return {file: file.stat().st_mtime_ns for file in folder.rglob("*") if file.is_file()}
