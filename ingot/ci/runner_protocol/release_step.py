"""Command that creates the release of a job (``release``)."""

from collections.abc import Mapping
from typing import Any

import msgspec

_OPTIONS = ("name", "description", "tag_name", "tag_message", "ref", "released_at")
_LOGIN = (
    'export GITLAB_HOST="$CI_SERVER_URL"',
    'glab auth login --job-token "$CI_JOB_TOKEN" --hostname "$CI_SERVER_FQDN" --api-protocol "$CI_SERVER_PROTOCOL"',
)


def release_command(release: Mapping[str, Any], platform: str | None) -> str:
    """Return the command that creates a release: with glab if the job's image has it, else with release-cli.

    The values stand in double quotes, so that the shell of the job inserts variables.
    """
    command = _release_cli(release)
    if platform == "windows":
        # The condition below is not PowerShell.
        return command
    lines = ("if command -v glab >/dev/null 2>&1; then", *_LOGIN, _glab(release), "else", command, "fi")
    return "\n".join(lines)


def _release_cli(release: Mapping[str, Any]) -> str:
    words = ["release-cli create"]
    words += [f'--{name.replace("_", "-")} "{release[name]}"' for name in _OPTIONS if release.get(name)]
    words += [f'--milestone "{title}"' for title in _milestones(release)]
    words += [f"--assets-link {_quoted_json(link)}" for link in _links(release)]
    return " ".join(words)


def _glab(release: Mapping[str, Any]) -> str:
    words = [f'glab -R "$CI_PROJECT_PATH" release create "{release["tag_name"]}"']
    if _links(release):
        words.append(f"--assets-links {_quoted_json(_links(release))}")
    if _milestones(release):
        words.append(f'--milestone "{",".join(_milestones(release))}"')
    if release.get("name"):
        words.append(f'--name "{release["name"]}"')
    # The description is a text or the name of a file.
    words.append(f'--experimental-notes-text-or-file "{release["description"]}"')
    words.append(f'--ref "{release.get("ref") or "$CI_COMMIT_SHA"}"')
    words += [
        f'--{name.replace("_", "-")} "{release[name]}"' for name in ("tag_message", "released_at") if release.get(name)
    ]
    return " ".join([*words, "--no-update", "--no-close-milestone"])


def _milestones(release: Mapping[str, Any]) -> list[str]:
    milestones = release.get("milestones") or []
    return [milestones] if isinstance(milestones, str) else milestones


def _links(release: Mapping[str, Any]) -> list[dict[str, Any]]:
    links: list[dict[str, Any]] = (release.get("assets") or {}).get("links") or []
    return links


def _quoted_json(value: object) -> str:
    """Return JSON as one word of a shell command."""
    return msgspec.json.encode(msgspec.json.encode(value).decode()).decode()
