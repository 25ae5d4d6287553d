"""Comparison of the lock files with known security advisories; part of ``make check``.

``pip-audit`` asks the advisory service. Where that cannot be reached, the dated list in ``advisories.toml`` is used. A
newer list is written from a checkout of the Python Packaging Advisory Database with ``make advisories D=DIRECTORY``.
"""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[2]
LOCK_FILES = (ROOT / "requirements.lock", ROOT / "requirements-dev.lock")
ADVISORIES = Path(__file__).parent / "advisories.toml"
MAX_AGE_DAYS = 120
SERVICE_SECONDS = 30
SOCKET_SECONDS = 5
_MODIFIED = re.compile(r"^modified: [\"']?(\d{4}-\d\d-\d\d)", re.MULTILINE)
_LOCKED = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==([^\s;\\]+)", re.MULTILINE)

Finding = tuple[str, str, str]
"""Package, locked version and id of an advisory."""


class AdvisoryList(NamedTuple):
    """Known advisories at a date: the affected versions by package and id, and the accepted ids with their reasons."""

    date: date
    accepted: Mapping[str, str]
    affected: Mapping[str, Mapping[str, Sequence[str]]]


def locked_versions(paths: Iterable[Path] = LOCK_FILES) -> set[tuple[str, str]]:
    """Return the packages and versions of lock files."""
    found = [match.groups() for path in paths for match in _LOCKED.finditer(path.read_text())]
    return {(canonicalize_name(name), version) for name, version in found}


def read_advisories(path: Path = ADVISORIES) -> AdvisoryList:
    """Read the dated list."""
    document = tomllib.loads(path.read_text())
    return AdvisoryList(document["date"], document.get("accepted", {}), document.get("affected", {}))


def listed_findings(advisories: AdvisoryList, locked: Iterable[tuple[str, str]]) -> list[Finding]:
    """Return the locked versions that an advisory of the list affects."""
    return sorted(
        (package, version, advisory)
        for package, version in locked
        for advisory, ranges in advisories.affected.get(package, {}).items()
        if any(SpecifierSet(each).contains(Version(version), prereleases=True) for each in ranges)
    )


def service_findings_or_none(
    command: Sequence[str] = (str(Path(sys.executable).parent / "pip-audit"),), seconds: float = SERVICE_SECONDS
) -> list[Finding] | None:
    """Return the findings of the advisory service, or None if it cannot be reached in time."""
    found: set[Finding] = set()
    options = ["--disable-pip", "--no-deps", "--progress-spinner", "off", "--format", "json"]
    for path in LOCK_FILES:
        arguments = [*command, *options, "--timeout", str(SOCKET_SECONDS), "--requirement", str(path)]
        try:
            done = subprocess.run(arguments, capture_output=True, text=True, timeout=seconds, check=False)
            found |= set(_reported(json.loads(done.stdout)))
        except (OSError, subprocess.TimeoutExpired, json.JSONDecodeError, KeyError):
            # No report, or one without a package: mirrors of the package index do not know advisories.
            return None
    return sorted(found)


def _reported(report: Mapping[str, Any]) -> Iterator[Finding]:
    for dependency in report["dependencies"]:
        for advisory in dependency["vulns"]:
            yield canonicalize_name(dependency["name"]), dependency["version"], advisory["id"]


def audit(
    advisories: AdvisoryList, findings: Sequence[Finding] | None, locked: set[tuple[str, str]], today: date
) -> tuple[list[str], list[str]]:
    """Return errors and warnings, from the findings of the service or, if they are None, from the list."""
    warnings = []
    if findings is None:
        findings = listed_findings(advisories, locked)
        warnings.append(f"The advisory service cannot be reached; the list of {advisories.date} was used.")
        if (today - advisories.date).days > MAX_AGE_DAYS:
            warnings.append("The list of advisories is old. Update it with: make advisories D=DIRECTORY")
    errors = [
        f"{package} {version} is affected by {advisory}. Update it with: make lock"
        for package, version, advisory in findings
        if advisory not in advisories.accepted
    ]
    return errors, warnings


def affected_ranges(entry: Mapping[str, Any], package: str) -> list[str]:
    """Return the affected versions of a package in an entry of the advisory database, as version specifiers."""
    ranges: list[str] = []
    for affected in entry.get("affected", ()):
        if canonicalize_name(affected["package"]["name"]) != package:
            continue
        events = [each["events"] for each in affected.get("ranges", ()) if each["type"] == "ECOSYSTEM"]
        ranges += [specifier for each in events for specifier in _specifiers(each)]
        if not events:
            ranges += [f"=={version}" for version in affected.get("versions", ())]
    return ranges


def _specifiers(events: Iterable[Mapping[str, str]]) -> Iterator[str]:
    """Convert events (``introduced``, then ``fixed`` or ``last_affected``) to specifiers."""
    start: str | None = None
    for event in events:
        if "introduced" in event:
            start = event["introduced"]
        elif start is not None:
            end = f"<{event['fixed']}" if "fixed" in event else f"<={event['last_affected']}"
            yield end if start == "0" else f">={start},{end}"
            start = None
    if start is not None:
        yield f">={start}"


def write_advisories(database: Path, path: Path = ADVISORIES) -> None:
    """Write the list for all locked packages from a checkout of the advisory database; keep the accepted ids.

    The date of the list is that of the newest entry in the whole database.
    """
    newest = max(match[1] for each in database.glob("vulns/*/*.yaml") if (match := _MODIFIED.search(each.read_text())))
    accepted = read_advisories(path).accepted if path.exists() else {}
    lines = [
        "# Security advisories of the packages in the lock files; `make check` uses them without the advisory service.",
        "# `make advisories` writes this file. [accepted] lists the ids that do not affect us, each with the reason.",
        f"date = {newest}",
        "",
        "[accepted]",
        *(f"{json.dumps(advisory)} = {json.dumps(reason)}" for advisory, reason in sorted(accepted.items())),
    ]
    for package in sorted({name for name, _ in locked_versions()}):
        entries = sorted((database / "vulns" / package).glob("*.yaml"))
        listed = [(each.stem, msgspec.yaml.decode(each.read_bytes())) for each in entries]
        ranges = [(name, affected_ranges(entry, package)) for name, entry in listed if not entry.get("withdrawn")]
        if ranges:
            lines += ["", f"[affected.{package}]"]
            lines += [f"{name} = {json.dumps(specifiers)}" for name, specifiers in ranges if specifiers]
    path.write_text("\n".join(lines) + "\n")


def main(arguments: Sequence[str]) -> int:
    """Update the list from the given directory, or audit the lock files and return the exit status."""
    if arguments:
        write_advisories(Path(arguments[0]))
        return 0
    today = datetime.now(UTC).date()
    errors, warnings = audit(read_advisories(), service_findings_or_none(), locked_versions(), today)
    for line in [*warnings, *errors]:
        sys.stderr.write(f"{line}\n")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
