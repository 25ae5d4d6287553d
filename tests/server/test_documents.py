"""Commands of all documents: everything runs that can run on one machine, and the rest is listed with its reason.

The README's tour has its own test. A command that is added to a document runs here without a change of this file.
"""

import ast
import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from pathlib import Path
from string import Template
from typing import NamedTuple

import pytest
import yaml

from ingot.cli.main import COMMANDS
from tests import fork_server
from tests.server.process import ROOT, TOKEN, environment, ingot, serving, until
from tests.server.test_readme import STRICT

DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "SECURITY.md",
    *sorted((ROOT / "docs").glob("*.md")),
]
SUBCOMMANDS = {
    "list",
    "cache",
    "check",
    "move",
    "move-repository",
    "retry",
    "drop",
    "create",
    "password",
    "admin",
    "block",
}
LINK = re.compile(r"\]\(([^)#:]+)\)")

NOT_RUN = {
    r"^make |^\.venv/bin/pytest|POSTGRES|=postgresql ": "runs these tests; the targets and paths are compared below",
    r"^(useradd|systemctl|journalctl) ": "changes the users or services of the machine",
    r"^(apt-get|certbot|install -|sed 's#/etc|ln -s|rm -r /var) ?": "changes the machine",
    r"/opt/ingot": "installs into the system; tests/testing/test_wheel.py and `make release` build and start the wheel",
    r"^pip install ": "needs a package index; tests/packages makes the requests of pip",
    r"^(INGOT_DOMAIN=\S+ )?(twine|npm|docker|kubectl|glab|gitlab-runner) ": "needs a program that may be missing",
    r"^ingot storage move( |$)": "needs a bucket; tests/storage moves files into one",
    r"github\.com|--from gitea": "needs a server of another kind; tests/transfers/sources has their responses",
}
"""Commands that cannot run here, by a pattern, and the reason; their syntax is checked."""

SUBSTITUTIONS = {
    "https://git.example.org": "$URL",
    "http://127.0.0.1:8080": "$URL",
    "https://gitlab.example.com": "$URL",
    "--into team": "--into copies",  # The source is this server, where the path `team` is in use.
    "import export.tar.gz --into copies/app": "import export.tar.gz --into copies/archive",
    "token.txt": "$FOLDER/token.txt",
    " export.tar.gz": " $FOLDER/export.tar.gz",
    "--work runner": "--work $FOLDER/runner --once",
    '"repository_storages_weighted": {"cloud": 100, "default": 0}': '"repository_storages_weighted": {"default": 100}',
    "/run/ingot": "$FOLDER/run",
    "/srv/ingot": "$FOLDER/node",
    "/mnt/": "$FOLDER/",
}
"""Parts of commands that are different in the tests, and their replacements."""


class Block(NamedTuple):
    """Fenced block of a document."""

    document: Path
    language: str
    text: str

    def commands(self) -> list[str]:
        """Return the commands of a shell block; lines that continue belong to the first one."""
        lines = re.sub(r"\\\n\s*", "", self.text).splitlines()
        return [line for line in lines if line.strip() and not line.startswith("#")]


def _blocks() -> Iterator[Block]:
    for document in DOCUMENTS:
        # Directives are instructions for the documentation site.
        source = re.sub(r"^```\{.*?^```$", "", document.read_text(), flags=re.MULTILINE | re.DOTALL)
        for indent, language, text in re.findall(r"^( *)```(\w*)\n(.*?)^\1```", source, re.MULTILINE | re.DOTALL):
            yield Block(document, language, re.sub(rf"^{indent}", "", text, flags=re.MULTILINE))


BLOCKS = list(_blocks())
SHELL_BLOCKS = [block for block in BLOCKS if block.language == "sh"]


def _reason(command: str) -> str | None:
    return next((reason for pattern, reason in NOT_RUN.items() if re.search(pattern, command)), None)


def _substituted(text: str) -> str:
    for part, replacement in SUBSTITUTIONS.items():
        text = text.replace(part, replacement)
    return text


def test_every_block_has_the_syntax_of_its_language() -> None:
    for block in BLOCKS:
        assert block.language, f"{block.document.name}: name the language of the block: {block.text}"
        if block.language == "python":
            ast.parse(block.text)
        elif block.language == "json":
            json.loads(block.text)
        elif block.language == "yaml":
            yaml.safe_load(block.text)
        elif block.language == "toml":
            tomllib.loads(block.text)
    script = "\n".join(block.text for block in SHELL_BLOCKS)
    done = subprocess.run(["bash", "-n"], input=script, capture_output=True, text=True, check=False)
    assert done.stderr == ""


def test_every_reason_and_every_substitution_is_in_use() -> None:
    commands = [command for block in SHELL_BLOCKS for command in block.commands()]
    assert [pattern for pattern in NOT_RUN if not any(re.search(pattern, command) for command in commands)] == []
    text = "\n".join(commands)
    for part, replacement in SUBSTITUTIONS.items():
        assert part in text, part
        text = text.replace(part, replacement)


def _words(command: str, variables: dict[str, str]) -> tuple[list[str], dict[str, str]]:
    """Return the arguments of an `ingot` command, and its environment."""
    chosen = dict(variables)
    words = shlex.split(Template(_substituted(command)).substitute(variables), comments=True)
    while "=" in words[0]:
        name, _, value = words.pop(0).partition("=")
        chosen[name] = value
    assert words.pop(0) in ("ingot", ".venv/bin/ingot")
    return words, chosen


def _run(commands: list[str], folder: Path, variables: dict[str, str]) -> None:
    """Run commands of a block, those of `ingot` in a process that has loaded the code."""
    for is_ingot, some in groupby(commands, lambda command: command.startswith("ingot ")):
        if is_ingot:
            for command in some:
                words, chosen = _words(command, variables)
                done = fork_server.run("ingot", *words, env=chosen)
                assert done.returncode == 0, (command, done.stdout + done.stderr)
        else:
            script = STRICT + _substituted("\n".join(some))
            done = subprocess.run(
                ["bash", "-c", script],
                env=variables,
                cwd=folder,
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
            assert done.returncode == 0, (script, done.stdout + done.stderr)


@pytest.mark.skipif(shutil.which("curl") is None, reason="Many commands need curl, which is not installed.")
def test_the_commands_run(tmp_path: Path) -> None:
    """Run all blocks in one folder with one server, which has the projects that they name."""
    storages = f"fast={tmp_path / 'fast'},archive={tmp_path / 'archive'}"
    settings = {"INGOT_ALLOW_LOCAL_REQUESTS": "1", "INGOT_REPOSITORY_STORAGES": storages}
    for storage in ("fast", "archive"):
        (tmp_path / storage).mkdir()
    with serving(tmp_path / "data", "", **settings) as server:
        project = 0
        for group, name in (("team", "app"), ("copies", ""), ("group", "project")):
            namespace = server.call("POST", "/groups", json={"name": group, "path": group}).json()["id"]
            if name:
                body = {"name": name, "namespace_id": namespace, "initialize_with_readme": True}
                project = server.call("POST", "/projects", json=body).json()["id"]
        for name, text in (("tool.tar.gz", "a tool"), ("token.txt", TOKEN)):
            (tmp_path / name).write_text(text)
        variables = environment(
            URL=server.url,
            TOKEN=TOKEN,
            PROJECT=str(project),
            FOLDER=str(tmp_path),
            APPLICATION_ID="an-id",
            REGISTRATION_TOKEN=server.call("GET", "/application/settings").json()["runners_registration_token"],
            HOME=str(tmp_path),
            INGOT_DATA=str(tmp_path / "data"),
            **settings,
        )
        for block in SHELL_BLOCKS:
            commands = [command for command in block.commands() if not _reason(command)]
            if block.document.name != "README.md" and not any("ingot serve" in command for command in commands):
                _run(commands, tmp_path, variables)
        assert len(server.call("GET", "/runners/all").json()) == 1, "`ingot runner` has registered itself"
        for path in ("copies%2Fapp", "copies%2Farchive"):
            assert server.call("GET", f"/projects/{path}/repository/files/README.md?ref=HEAD").status_code == 200


SERVERS = [
    pytest.param(command, id=f"{block.document.stem}: {command}")
    for block in SHELL_BLOCKS
    for command in block.commands()
    if "ingot serve" in command and block.document.name not in ("README.md", "testing.md")
]


@pytest.mark.parametrize("command", SERVERS)
def test_the_servers_start(command: str, tmp_path: Path) -> None:
    addresses = {"INGOT_PORT": "0", "INGOT_SSH_PORT": "0", "INGOT_DATA": str(tmp_path / "data")}
    words, chosen = _words(command, environment(FOLDER=str(tmp_path), TMPDIR=str(tmp_path), **addresses))
    log = tmp_path / "log"
    with log.open("wb") as stream:
        process = fork_server.start("ingot", *words, stdout=stream.fileno(), stderr=stream.fileno(), env=chosen)
    until("the line `serving`", lambda: process.poll() is not None or '"event": "serving"' in log.read_text())
    process.terminate()
    assert process.wait(60) == 0, log.read_text()


def test_the_plugin_runs_the_test_of_the_readme(tmp_path: Path) -> None:
    (example,) = [
        block.text for block in BLOCKS if block.document.name == "README.md" and "ingot_project" in block.text
    ]
    (tmp_path / "test_bot.py").write_text(example)
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    plugin = ["-p", "pytest_ingot.plugin"]
    done = subprocess.run(
        words if _plugin_is_installed() else words + plugin,
        cwd=tmp_path,
        env=environment(PYTHONPATH=str(ROOT)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert "1 passed" in done.stdout, done.stdout + done.stderr


def _plugin_is_installed() -> bool:
    from importlib.metadata import entry_points

    return any(entry.value == "pytest_ingot.plugin" for entry in entry_points(group="pytest11"))


@cache
def _options(command: str, subcommand: str) -> set[str]:
    """Return the options that a command and its subcommand print."""
    words = [command, subcommand] if subcommand in SUBCOMMANDS else [command]
    return set(re.findall(r"--[a-z][a-z-]*", ingot(*words, "--help").stdout))


def test_named_commands_options_targets_and_paths_exist() -> None:
    """Compare the commands in sentences and those that are not run."""
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for document in DOCUMENTS:
        text = document.read_text()
        inline = re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL))
        fenced = [command for block in SHELL_BLOCKS if block.document == document for command in block.commands()]
        for command in (*inline, *fenced):
            for target in re.findall(r"^make ([a-z-]+)", command):
                assert target in targets, (document.name, command)
            for path in re.findall(r"^\.venv/bin/pytest.* (tests/\S+)", command):
                assert (ROOT / path).exists(), (document.name, command)
            for name, subcommand, rest in re.findall(
                r"(?:^|\.venv/bin/| )ingot ([a-z][a-z-]*)\b ?([a-z-]*)([^|#]*)", command
            ):
                assert name in COMMANDS, (document.name, command)
                if "--" in rest or subcommand.startswith("--"):
                    named = set(re.findall(r"--[a-z][a-z-]*", f"{subcommand} {rest}"))
                    assert named <= _options(name, subcommand), (document.name, command)


def test_the_examples_of_ci_services_have_valid_syntax() -> None:
    for file in (ROOT / "deploy" / "ci").glob("*.yml"):
        document = yaml.safe_load(file.read_text())
        jobs = document.get("jobs", document).values()
        scripts = [line for job in jobs for line in job.get("script", [])]
        scripts += [step["run"] for job in jobs for step in job.get("steps", []) if "run" in step]
        assert scripts
        done = subprocess.run(["bash", "-n"], input="\n".join(scripts), capture_output=True, text=True, check=False)
        assert done.stderr == ""


@pytest.mark.parametrize(
    "document", sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]), ids=lambda path: path.name
)
def test_links_between_documents_are_valid(document: Path) -> None:
    links = LINK.findall(re.sub(r"```.*?```", "", document.read_text(), flags=re.DOTALL))
    assert [link for link in links if not (document.parent / link).exists()] == []
