"""Command that creates the release of a job (``release``)."""

import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

_OPTIONS = ("name", "description", "tag_name", "tag_message", "ref", "released_at")
_VARIABLE = re.compile(r"\$(?:[A-Za-z_]\w*|\{[A-Za-z_][^}]*\})", re.ASCII)
_LOGIN = (
    'export GITLAB_HOST="$CI_SERVER_URL"',
    'glab auth login --job-token "$CI_JOB_TOKEN" --hostname "$CI_SERVER_FQDN" --api-protocol "$CI_SERVER_PROTOCOL"',
)


def release_command(release: Mapping[str, Any], platform: str | None, *, publish: bool = False) -> str:
    """Return the command that creates a release: with glab if the job's image has it, else with release-cli.

    With ``publish``, it also publishes the release in the catalog. The shell of the job inserts variables and the
    output of ``$(…)``; everything else reaches the release as it is.
    """
    if platform == "windows":
        # The condition below and the quoting are not PowerShell.
        return _release_cli(release, lambda text: f'"{text}"') + " --catalog-publish" * publish
    with_glab = _glab(release) + " --publish-to-catalog" * publish
    with_release_cli = _release_cli(release) + " --catalog-publish" * publish
    lines = ("if command -v glab >/dev/null 2>&1; then", *_LOGIN, with_glab, "else", with_release_cli, "fi")
    return "\n".join(lines)


def _quoted(text: str) -> str:
    """Return a text as one word of a shell command, with its variables and ``$(…)`` inserted by the shell.

    A backslash before ``$``, a double quote or a backtick has the effect that it has in double quotes.
    """
    parts, position = [], 0
    while position < len(text):
        end = _end_of_expansion(text, position)
        if end is not None:
            parts.append(text[position:end])
        elif text[position] == "\\" and text[position + 1 : position + 2] in tuple('"$`'):
            end = position + 2
            parts.append(text[position:end])
        else:
            end = position + 1
            parts.append(f"\\{text[position]}" if text[position] in '"$`\\' else text[position])
        position = end
    return f'"{"".join(parts)}"'


def _end_of_expansion(text: str, start: int) -> int | None:
    """Return the end of the variable or command substitution that begins here; None if none does."""
    if text.startswith("$(", start):
        depth = 0
        for position in range(start + 1, len(text)):
            depth += {"(": 1, ")": -1}.get(text[position], 0)
            if depth == 0:
                return position + 1
        return None
    variable = _VARIABLE.match(text, start)
    return None if variable is None else variable.end()


def _release_cli(release: Mapping[str, Any], quote: Callable[[str], str] = _quoted) -> str:
    words = ["release-cli create"]
    words += [f"--{name.replace('_', '-')} {quote(release[name])}" for name in _OPTIONS if release.get(name)]
    words += [f"--milestone {quote(title)}" for title in _milestones(release)]
    words += [f"--assets-link {_quoted_json(link)}" for link in _links(release)]
    return " ".join(words)


def _glab(release: Mapping[str, Any]) -> str:
    words = [f'glab -R "$CI_PROJECT_PATH" release create {_quoted(release["tag_name"])}']
    if _links(release):
        words.append(f"--assets-links {_quoted_json(_links(release))}")
    if _milestones(release):
        words.append(f"--milestone {_quoted(','.join(_milestones(release)))}")
    if release.get("name"):
        words.append(f"--name {_quoted(release['name'])}")
    # The description is a text or the name of a file.
    words.append(f"--experimental-notes-text-or-file {_quoted(release['description'])}")
    words.append(f"--ref {_quoted(release.get('ref') or '$CI_COMMIT_SHA')}")
    words += [
        f"--{name.replace('_', '-')} {_quoted(release[name])}"
        for name in ("tag_message", "released_at")
        if release.get(name)
    ]
    return " ".join([*words, "--no-update", "--no-close-milestone"])


def _milestones(release: Mapping[str, Any]) -> list[str]:
    milestones = release.get("milestones") or []
    return [milestones] if isinstance(milestones, str) else milestones


def _links(release: Mapping[str, Any]) -> list[dict[str, Any]]:
    links: list[dict[str, Any]] = (release.get("assets") or {}).get("links") or []
    return links


def _quoted_json(value: object) -> str:
    """Return JSON as one word of a shell command, in which the shell inserts variables."""
    text = msgspec.json.encode(msgspec.json.encode(value).decode()).decode()
    return text.replace("`", "\\`")
