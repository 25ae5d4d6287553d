"""Repositories of the shared instance in a real S3 server, with ``INGOT_TEST_REPOSITORIES=bucket``."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from ingot.core.settings import Settings
from ingot.git.core.layout import GENERATION
from ingot.projects.projects.api import repository_store
from ingot.server.bucket_repositories import copy_cache
from tests.client import Api, User
from tests.storage.s3_server import S3Server, running_s3_server

_LOOKS = "It looks for files that only directories have: refs, locks, intents or quarantines."
_WRITES = "It writes to the directory of a repository without the server."
DIRECTORY_TESTS = {
    "tests/api/merge_requests/test_limits.py": _WRITES,
    "tests/api/merging/test_merge.py::test_a_merge_fetches_the_head_of_a_fork_that_the_target_lacks": _WRITES,
    "tests/api/repository/test_branch_changes.py::test_a_branch_and_a_tag_of_one_name_are_distinct": _WRITES,
    "tests/api/repository/test_concurrent_commits.py::test_a_branch_that_": _WRITES,
    "tests/api/wikis/test_group_wikis.py::test_wiki_follows_its_group": _LOOKS,
    "tests/api/wikis/test_wikis.py::test_the_repository_is_deleted_with_the_project": _LOOKS,
    "tests/transport/test_damaged_repositories.py::test_a_damaged_repository": "A copy is made again.",
    "tests/transport/test_damaged_repositories.py::test_stale_locks": _LOOKS,
    "tests/transport/test_deleted_meanwhile.py::test_a_project_deleted_during_a_fetch": "It removes a copy only.",
    "tests/transport/test_disconnects.py::test_a_client_disconnects": _LOOKS,
    "tests/transport/test_many_refs.py::test_created_changed_and_deleted": _LOOKS,
    "tests/transport/test_many_refs.py::test_one_refused_ref_refuses_all": _LOOKS,
    "tests/transport/test_openssh.py::test_clone_is_served_by_git_itself": "The server holds a lock during a fetch.",
    "tests/transport/test_push_effects.py::test_changes_rejected_by_git": "All refs of a push change, or none.",
    "tests/transport/test_push_effects.py::test_concurrent_first_pushes": _LOOKS,
}
"""Beginnings of the ids of tests that do not apply to a bucket, with reasons."""
VARIABLE = "INGOT_TEST_REPOSITORIES"
STORAGE = "cloud"


def directory_reason_or_none(test: str) -> str | None:
    """Return why a test is left out in a run with a bucket, or None."""
    if os.environ.get(VARIABLE) != "bucket":
        return None
    return next((reason for start, reason in DIRECTORY_TESTS.items() if test.startswith(start)), None)


@contextmanager
def bucket_if_chosen(folders: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """Yield the settings of an instance with repositories in a bucket; none if the test run has not chosen that."""
    if os.environ.get(VARIABLE) != "bucket":
        yield {}
        return
    with running_s3_server(folders.mktemp("s3")) as server:
        yield bucket_settings(server, "repositories")


def bucket_settings(server: S3Server, bucket: str) -> dict[str, Any]:
    """Create a bucket; return the settings of an instance whose storage ``cloud`` is in it."""
    return {**server.settings(bucket, ""), "repository_storages": f"{STORAGE}=bucket"}


def use_bucket(api: Api, root: User) -> None:
    """Let the instance create new repositories in the bucket."""
    sent = api.put("/application/settings", root, repository_storages_weighted={STORAGE: 100, "default": 0})
    assert sent.status_code == 200, sent.text


def leave_unused(settings: Settings) -> None:
    """Let the copies of a node seem to have been unused for long."""
    for copy in copy_cache(settings).copies():
        local = repository_store(settings).roots[STORAGE] / copy.path.relative_to(copy.path.parents[2])
        os.utime(local / GENERATION, (1, 1))


def delete_copies(settings: Settings) -> None:
    """Delete everything that a node has of repositories, as a new machine has nothing."""
    cache = copy_cache(settings)
    for folder in (cache.root, cache.local):
        shutil.rmtree(folder, ignore_errors=True)
