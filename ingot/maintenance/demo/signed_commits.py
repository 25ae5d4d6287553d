"""Commits that the demo users sign with SSH keys, as git does with ``gpg.format=ssh``."""

import base64
import hashlib
from collections.abc import Container

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from ingot.accounts.keys import api as keys_api
from ingot.core.access.actor import Actor
from ingot.core.db.database import Database
from ingot.core.db.times import to_datetime
from ingot.core.settings import Settings
from ingot.git.core.library import open_repository
from ingot.git.history.commits import NO_OID, Signature, branch_tip, read_commits
from ingot.git.writing.commits import CommitMetadata, TreeAction, commit_actions
from ingot.git.writing.new_objects import write_object
from ingot.git.writing.ref_updates import RefUpdate
from ingot.maintenance.demo.client import DemoClient
from ingot.maintenance.demo.repository import MAIN, DemoCommit
from ingot.maintenance.demo.users import DEMO_USERS, DemoUser
from ingot.projects.projects.api import repository_store
from ingot.projects.projects.code_access import project_repository
from ingot.projects.projects.queries import find_project
from ingot.repositories.ref_changes.apply import change_refs

_LINE_LENGTH = 70
_BY_USERNAME = {person.username: person for person in DEMO_USERS}


class SignedCommits:
    """Pushes signed commits; the private keys exist only as long as this object."""

    def __init__(self, client: DemoClient, database: Database, settings: Settings, actors: dict[str, Actor]) -> None:
        self._client = client
        self._database = database
        self._settings = settings
        self._actors = actors
        self._keys: dict[str, Ed25519PrivateKey] = {}

    def push(self, project_path: str, committer: str, commit: DemoCommit, existing_files: Container[str]) -> None:
        """Add a commit to its branch, signed by its committer."""
        actor = self._actors[committer]
        _, project = self._database.read(lambda db: find_project(db, actor, project_path))
        repository = project_repository(repository_store(self._settings), project)
        old = branch_tip(repository, commit.branch) or NO_OID
        start = branch_tip(repository, MAIN) if commit.creates_branch else old
        parent = read_commits(repository, [start])[0] if start else None
        people = (self._person(_BY_USERNAME[username]) for username in (commit.author, committer))
        actions = [
            TreeAction("update" if path in existing_files else "create", path, content=text.encode())
            for path, text in commit.files.items()
        ]
        unsigned = commit_actions(repository, parent, actions, CommitMetadata(commit.message, *people))
        content = open_repository(repository.path)[unsigned].read_raw()
        key = self._key(committer) if commit.signed == "registered key" else Ed25519PrivateKey.generate()
        oid = write_object(repository, "commit", _signed_content(content, _ssh_signature(key, content)))
        update = RefUpdate(f"refs/heads/{commit.branch}", old, oid)
        change_refs(self._database, repository, actor, project, [update])

    def _person(self, person: DemoUser) -> Signature:
        return Signature(person.name, person.email, int(to_datetime(self._database.clock()).timestamp()), 0)

    def _key(self, username: str) -> Ed25519PrivateKey:
        """Return the key of a user, who registers it before the first use."""
        if username not in self._keys:
            self._keys[username] = Ed25519PrivateKey.generate()
            public = self._keys[username].public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()
            self._client.ask_instance(username, keys_api.create_key, {"title": "Signing key", "key": public})
        return self._keys[username]


def _ssh_signature(key: Ed25519PrivateKey, payload: bytes) -> bytes:
    """Return an armored signature (PROTOCOL.sshsig of OpenSSH)."""
    signed = b"SSHSIG" + _strings(b"git", b"", b"sha512", hashlib.sha512(payload).digest())
    algorithm = b"ssh-ed25519"
    public = _strings(algorithm, key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw))
    blob = _strings(public, b"git", b"", b"sha512", _strings(algorithm, key.sign(signed)))
    text = base64.b64encode(b"SSHSIG\0\0\0\1" + blob)
    lines = [text[start : start + _LINE_LENGTH] for start in range(0, len(text), _LINE_LENGTH)]
    return b"\n".join([b"-----BEGIN SSH SIGNATURE-----", *lines, b"-----END SSH SIGNATURE-----"])


def _signed_content(content: bytes, signature: bytes) -> bytes:
    """Return the content of a commit with a signature as its last header, whose further lines are indented."""
    headers, _, message = content.partition(b"\n\n")
    return headers + b"\ngpgsig " + signature.replace(b"\n", b"\n ") + b"\n\n" + message


def _strings(*parts: bytes) -> bytes:
    return b"".join(len(part).to_bytes(4, "big") + part for part in parts)
