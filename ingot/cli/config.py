"""``ingot config check``: the settings in force, where each came from, and what is questionable about them."""

import argparse
import os
import re
import shlex
import sys
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ingot.cli.options import add_instance_options
from ingot.core.settings import InvalidSetting, Settings, given_settings, is_loopback, load_settings

_SECRET = re.compile(r"password|secret|token|access_key")
_URL_PASSWORD = re.compile(r"(?<=://)([^:/@\s]*):[^@/\s]+@")
_ASSIGNMENT = re.compile(r"(?:export\s+)?([A-Za-z_]\w*)=(.*)")
_OTHER_VARIABLES = ("INGOT_TEST", "INGOT_SOAK", "INGOT_RUNNER_TOKEN", "INGOT_RUNNER_REGISTRATION_TOKEN")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("action", choices=("check",), help="print every setting with its origin, and check them")
    parser.add_argument(
        "--env-file",
        metavar="FILE",
        help="also read INGOT_ variables from an environment file of systemd, such as /etc/ingot.env",
    )
    parser.add_argument("--changed", action="store_true", help="leave out settings that have their default")
    parser.epilog = (
        "Passwords and tokens are not printed. The exit status is 1 if a setting is invalid or does not exist; warnings"
        " do not change it. The command reads only the settings, so the server may be running or may not exist yet."
    )
    add_instance_options(parser)


def run(arguments: argparse.Namespace) -> None:
    """Print the settings, then warnings."""
    environment = dict(os.environ)
    if arguments.env_file:
        environment |= _variables_of_file(Path(arguments.env_file))
    flags = {"data": arguments.data, "database_url": arguments.database_url}
    settings = load_settings(flags, environment)
    for line in _explanations(settings, flags, environment, changed_only=arguments.changed):
        print(line)
    unknown = _unknown_variables(environment)
    for name in unknown:
        print(f"problem: {name} is not the variable of a setting")
    for warning in _warnings(settings):
        print(f"warning: {warning}")
    if unknown:
        sys.exit(1)


def _explanations(
    settings: Settings, flags: Mapping[str, Any], environment: Mapping[str, str], *, changed_only: bool
) -> Iterator[str]:
    given = given_settings(flags, environment)
    for setting in fields(Settings):
        origin = given[setting.name].origin if setting.name in given else "default"
        if changed_only and origin == "default":
            continue
        yield f"{setting.name} = {_shown(setting.name, getattr(settings, setting.name))}  ({origin})"
        yield f"    {setting.metadata['help']}"


def _shown(name: str, value: Any) -> str:
    """Return a value without passwords."""
    if isinstance(value, bool):
        return "on" if value else "off"
    text = str(value)
    if _SECRET.search(name):
        return "(set)" if text else "(not set)"
    return _URL_PASSWORD.sub(r"\1:…@", text) or '""'


def _variables_of_file(path: Path) -> dict[str, str]:
    """Return the variables of a file with lines such as ``NAME=value``, as systemd reads them."""
    try:
        lines = path.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidSetting(f"{path} cannot be read: {error}") from error
    variables = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith(("#", ";")):
            continue
        assignment = _ASSIGNMENT.fullmatch(line.strip())
        if assignment is None:
            raise InvalidSetting(f"{path}, line {number}: expected NAME=value")
        try:
            variables[assignment[1]] = " ".join(shlex.split(assignment[2]))
        except ValueError as error:
            raise InvalidSetting(f"{path}, line {number}: {error}") from error
    return variables


def _unknown_variables(environment: Mapping[str, str]) -> list[str]:
    known = {f"INGOT_{setting.name.upper()}" for setting in fields(Settings)}
    return sorted(
        name
        for name in environment
        if name.startswith("INGOT_") and name not in known and not name.startswith(_OTHER_VARIABLES)
    )


def _warnings(settings: Settings) -> Iterator[str]:
    """List settings that are valid and probably not intended on a server for others."""
    public = not is_loopback(settings.host)
    if not settings.external_url:
        yield "external_url is not set: links in emails lead to this machine's own address"
    elif not settings.is_https and not is_loopback(urlsplit(settings.external_url).hostname or ""):
        yield "external_url is not https: passwords and tokens are sent unencrypted"
    if settings.is_https and not settings.trusted_proxies:
        yield "trusted_proxies is empty and external_url is https: limits and logs have the address of the proxy"
    if public and settings.is_https:
        yield f"host is {settings.host}: the server is also reachable without the proxy that terminates TLS"
    if not settings.smtp_url:
        yield "smtp_url is not set: emails are stored in data/mail instead of sent"
    elif settings.mail_from == "ingot@localhost":
        yield "mail_from is ingot@localhost, which other mail servers refuse"
    if settings.allow_local_requests:
        yield "allow_local_requests is on: users can make this server call addresses of its own network"
    if settings.runner:
        yield "runner is on: CI jobs run in a shell of this machine, for users whom you trust"
    file = settings.data / "ingot.toml"
    if file.is_file() and file.stat().st_mode & 0o077:
        yield f"{file} can be read by other users of this machine: chmod 600 {file}"
