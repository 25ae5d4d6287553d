"""Command ``release-cli`` for jobs on machines that have none: it creates the release of a job with the job's token."""

import argparse
import json
import os
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ingot.runner.http import NoResponse, exchange_with_retries, json_body

COMMAND = "release-cli"
_MAX_DESCRIPTION_BYTES = 1024 * 1024
_FLAGS = ("--help", "--catalog-publish")
_TEXTS = ("name", "tag_name", "tag_message", "ref", "released_at")


def install_release_command(folder: Path, url: str) -> None:
    """Write the command to a directory, which belongs at the end of the search path of a job."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    command = shlex.join([sys.executable, "-I", "-m", __name__, "--server-url", url])
    path = folder / COMMAND
    path.write_text(f'#!/bin/sh\nexec {command} "$@"\n', encoding="utf-8")
    path.chmod(0o700)


def main(arguments: list[str] | None = None) -> int:
    """Create a release; return the exit status."""
    given = _parser().parse_args(list(_joined(sys.argv[1:] if arguments is None else arguments)))
    fields: dict[str, Any] = {name: value for name in _TEXTS if (value := getattr(given, name))}
    fields.setdefault("ref", os.environ.get("CI_COMMIT_SHA", ""))
    fields["description"] = _description(given.description)
    if given.milestone:
        fields["milestones"] = given.milestone
    try:
        links = [json.loads(link) for link in given.assets_link]
    except ValueError as error:
        return _fail(f"--assets-link is not JSON: {error}")
    if links:
        fields["assets"] = {"links": links}
    project = quote(os.environ.get("CI_PROJECT_ID", ""), safe="")
    problem = _post(given.server_url, f"/api/v4/projects/{project}/releases", fields)
    if problem:
        return _fail(problem)
    sys.stdout.write(f"Created the release {given.tag_name}\n")
    if given.catalog_publish:
        version = {"version": given.tag_name, "metadata": {}}
        problem = _post(given.server_url, f"/api/v4/projects/{project}/catalog/publish", version)
        if problem:
            return _fail(problem, "publish the release in the catalog")
        sys.stdout.write(f"Published the version {given.tag_name} in the CI/CD catalog\n")
    return 0


def _post(url: str, path: str, fields: dict[str, Any]) -> str | None:
    """Send a request with the token of the job; return what went wrong."""
    headers = {"Content-Type": "application/json", "JOB-TOKEN": os.environ.get("CI_JOB_TOKEN", "")}
    try:
        reply = exchange_with_retries(url, "POST", path, headers, json_body(fields))
    except NoResponse as error:
        return f"the server gave no response: {error}"
    return None if reply.status == 201 else f"{reply.status} {reply.body.decode(errors='replace')[:2000]}"


def _joined(arguments: list[str]) -> Iterator[str]:
    """Yield the arguments with each option and its value as one, because a value may begin with a hyphen."""
    words = iter(arguments)
    for word in words:
        value = next(words, None) if word.startswith("--") and "=" not in word and word not in _FLAGS else None
        yield word if value is None else f"{word}={value}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=COMMAND, description="Create a release of the project of this job.")
    parser.add_argument("--server-url", default=os.environ.get("CI_SERVER_URL", ""))
    create = parser.add_subparsers(required=True).add_parser("create", help="create a release")
    for name in _TEXTS:
        create.add_argument(f"--{name.replace('_', '-')}", required=name == "tag_name")
    create.add_argument("--description", default="", help="text, or path of a file with the text")
    create.add_argument("--catalog-publish", action="store_true", help="publish the release in the CI/CD catalog")
    create.add_argument("--milestone", action="append", default=[])
    create.add_argument("--assets-link", action="append", default=[], help="JSON with name and url")
    return parser


def _description(text: str) -> str:
    """Return the description, which may be the path of a file of the job."""
    try:
        with Path(text).open("rb") as file:
            return file.read(_MAX_DESCRIPTION_BYTES).decode(errors="replace")
    except (OSError, ValueError):  # It is no path.
        return text


def _fail(message: str, action: str = "create the release") -> int:
    sys.stderr.write(f"{COMMAND}: cannot {action}: {message}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
