"""Names of branches and tags."""

import random
import subprocess

import pytest

from ingot.git.core.names import is_well_formed_ref, ref_name_error
from tests.git.conftest import ENVIRONMENT

SHA1, SHA256 = "0123456789abcdef0123456789abcdef01234567", "f" * 64

VALID = [
    "master", "feature/x", "a.b", "a-b", "x@y", "@a", "a@", "ünïcode", "日本", "1.0", "v1", "a/b/c/d", "%2e", "a+b",
    "#1", "a'b", 'a"b', "$(id)", ";id", "|", "&", "{", "a{", "lock", "a.lockx", "HEADER", "head", "tags/v1",
    "head/x", "x/HEAD",
    f"{SHA1}-foo", f"{SHA1}x", SHA1[:39], f"x/{SHA1}", f"{SHA256}0", f"feature-{SHA1}", "x" * 250,
]  # fmt: skip
INVALID_FOR_GIT = [
    "", "-", "-x", "--help", "-d", "/a", "a/", "a//b", ".a", "a/.b", "a.", "a..b", "a.lock", "a.lock/b", "a b", "a~b",
    "a^b", "a:b", "+dev:master", "a?b", "a*b", "a[b", "a\\b", "a@{b", "@{-1}", "HEAD", "a\tb", "a\nb", "a\x7f", "\x01",
    "..", ".", "a/..", "../a", "../../config",
]  # fmt: skip
INVALID_FOR_INGOT = [
    SHA1, SHA1.upper(), SHA256, f"{SHA1}/x", f"{SHA256}/x/y", "refs/heads/main", "refs/x", "heads/main", "@",
    "HEAD/x", "HEAD/a/b", "x" * 251, "a/" * 600 + "a",
]  # fmt: skip


def git_accepts(name: str) -> bool:
    """Return whether git accepts a branch of this name."""
    command = ["git", "check-ref-format", "--branch", name]
    return subprocess.run(command, capture_output=True, cwd="/", env=ENVIRONMENT, check=False).returncode == 0


@pytest.mark.parametrize("name", VALID)
def test_valid_names(name: str) -> None:
    """No valid name is rejected."""
    assert ref_name_error(name) is None
    assert git_accepts(name)


@pytest.mark.parametrize("name", INVALID_FOR_GIT)
def test_names_rejected_by_git(name: str) -> None:
    """They are rejected before git sees them."""
    assert ref_name_error(name) is not None
    assert not git_accepts(name)


@pytest.mark.parametrize("name", INVALID_FOR_INGOT)
def test_ambiguous_names_are_rejected(name: str) -> None:
    """git would accept them, but they look like a commit or another branch."""
    assert ref_name_error(name) is not None
    assert git_accepts(name)


@pytest.mark.parametrize("name", ["\0", "a\0b", "\ud800", "a\udcff"])
def test_unencodable_names(name: str) -> None:
    """git cannot be called with them."""
    assert ref_name_error(name) is not None


def test_random_names_match_git() -> None:
    """Short combinations of special characters, drawn with a fixed seed."""
    pieces = [
        "a",
        "b",
        "/",
        ".",
        "..",
        "-",
        "@",
        "{",
        "@{",
        ".lock",
        "~",
        "^",
        ":",
        "?",
        "*",
        "[",
        "\\",
        " ",
        "\x7f",
        "é",
    ]
    draw = random.Random(4)
    names = {"".join(draw.choices(pieces, k=draw.randint(1, 5))) for _ in range(3000)}
    asked = sorted(name for name in names if name != "@")
    for name in asked[:400]:
        assert (ref_name_error(name) is None) == git_accepts(name), name


@pytest.mark.parametrize("ref", [b"refs/heads/a", b"refs/heads/\xff", b"refs/keep/1/x"])
@pytest.mark.parametrize(
    "bad", [b"heads/a", b"refs/a", b"refs/heads/../../x", b"refs/heads/a.lock", b"refs//a/b", b"HEAD"]
)
def test_full_names(ref: bytes, bad: bytes) -> None:
    """Names that are safe as a file below the repository."""
    assert is_well_formed_ref(ref)
    assert not is_well_formed_ref(bad)
