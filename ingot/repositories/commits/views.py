"""Response structs of commits."""

import hashlib
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from msgspec import UNSET, UnsetType

from ingot.accounts.users.commit_addresses import is_bot_address
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.git.diffs.diffs import FileDiff
from ingot.git.diffs.stats import CommitStats
from ingot.git.history.commits import Commit, Signature, decode_text
from ingot.git.history.signatures import Kind
from ingot.git.history.trailers import message_trailers
from ingot.pipelines.queries import pipelines_of_commits
from ingot.pipelines.views import PipelineBrief
from ingot.repositories.commits.queries import overall_pipeline_status
from ingot.repositories.commits.signatures import SignatureCheck
from ingot.repositories.commits.x509_signatures import SigningCertificate

_MAX_TITLE_LENGTH = 100
_TRUNCATED_TITLE_LENGTH = 80
_SHORT_OID_LENGTH = 8
_NO_TRAILERS: dict[str, Any] = {}
_LAST_WORD = re.compile(r"\s+\S*\Z")


class CommitView(View):
    """A commit in lists."""

    id: str
    short_id: str
    title: str
    created_at: str
    parent_ids: list[str]
    message: str
    author_name: str
    author_email: str
    authored_date: str
    committer_name: str
    committer_email: str
    committed_date: str
    web_url: str
    trailers: dict[str, str]
    extended_trailers: dict[str, list[str]]
    bot: bool | UnsetType = UNSET
    """Whether a bot is the author or the committer; absent from commits of people."""


class StatsView(View):
    """Number of lines that a commit adds and deletes, against its first parent."""

    additions: int
    deletions: int
    total: int


class ListedCommitView(CommitView):
    """A commit in a list with optional line counts."""

    stats: StatsView | UnsetType = UNSET


class CommitDetailView(CommitView, kw_only=True):
    """A commit with all details."""

    project_id: int
    status: str | None
    last_pipeline: PipelineBrief | None = None
    stats: StatsView | UnsetType = UNSET


class DiffView(View):
    """A file in a diff."""

    diff: str
    new_path: str
    old_path: str
    a_mode: str
    b_mode: str
    new_file: bool
    renamed_file: bool
    deleted_file: bool
    too_large: bool
    collapsed: bool


class RefView(View):
    """A branch or tag that contains a commit."""

    type: str
    name: str


class X509IssuerView(View):
    """Issuer of a certificate; the id is a part of the hash of its name and key."""

    id: int
    subject: str
    subject_key_identifier: str
    crl_url: str | None


class X509CertificateView(View):
    """Certificate of an X.509 signature; the id is a part of its hash, since certificates are not stored."""

    id: int
    subject: str
    subject_key_identifier: str
    email: str | None
    serial_number: int
    certificate_status: Literal["good", "revoked"]
    x509_issuer: X509IssuerView


class SignatureView(View):
    """Signature of a commit; the key's owner is named if it is a verified signature by a GPG key."""

    signature_type: Kind
    verification_status: str
    gpg_key_id: int | None = None
    gpg_key_primary_keyid: str | None = None
    gpg_key_user_name: str | None = None
    gpg_key_user_email: str | None = None
    gpg_key_subkey_id: int | None = None
    x509_certificate: X509CertificateView | UnsetType = UNSET


def signature_view(kind: Kind, check: SignatureCheck) -> SignatureView:
    """Return the view of a verification."""
    if check.certificate is not None:
        return SignatureView(
            kind, check.status, x509_certificate=_certificate_view(check.certificate, is_revoked=check.is_revoked)
        )
    if check.gpg_key is None or check.user is None:
        return SignatureView(kind, check.status)
    key_id = check.gpg_key.fingerprint[-16:]
    return SignatureView(kind, check.status, check.gpg_key.id, key_id, check.user.name, check.user.public_email or None)


def _certificate_view(certificate: SigningCertificate, *, is_revoked: bool) -> X509CertificateView:
    issuer = (certificate.issuer, certificate.issuer_key_identifier)
    return X509CertificateView(
        _id_of(certificate.fingerprint),
        certificate.subject,
        certificate.key_identifier,
        certificate.emails[0] if certificate.emails else None,
        certificate.serial_number,
        "revoked" if is_revoked else "good",
        X509IssuerView(_id_of(*issuer), *issuer, certificate.crl_url),
    )


def _id_of(*identity: str) -> int:
    """Return a number that JavaScript can represent exactly."""
    return int.from_bytes(hashlib.sha256("\0".join(identity).encode()).digest()[:6], "big")


class SequenceView(View):
    """Number of commits up to a commit."""

    count: int


def commit_view(commit: Commit, project_url: str) -> CommitView:
    """Return the view of a commit; ``project_url`` is the URL of the project's pages."""
    return CommitView(*_fields(commit, project_url))


def _fields(commit: Commit, project_url: str, *more: Any) -> tuple[Any, ...]:
    """Return the fields common to all commit views, then ``more``.

    Positional arguments take half the time of keywords.
    """
    oid, author, committer = commit.oid, commit.author, commit.committer
    committed = signature_time(committer)
    trailers = message_trailers(commit.message)
    return (
        oid,
        oid[:_SHORT_OID_LENGTH],
        truncated_title(commit),
        committed,
        list(commit.parents),
        commit.message,
        author.name,
        author.email,
        signature_time(author),
        committer.name,
        committer.email,
        committed,
        f"{project_url}/-/commit/{oid}",
        {name: values[-1] for name, values in trailers.items()} if trailers else _NO_TRAILERS,
        trailers or _NO_TRAILERS,
        True if is_bot_address(author.email) or is_bot_address(committer.email) else UNSET,
        *more,
    )


def commit_list_views(
    commits: Sequence[Commit], stats: Sequence[CommitStats] | None, project_url: str
) -> list[CommitView]:
    """Return the views of a page of commits, with line counts if given."""
    if stats is None:
        return [commit_view(commit, project_url) for commit in commits]
    return [
        ListedCommitView(*_fields(commit, project_url, stats_view(counts)))
        for commit, counts in zip(commits, stats, strict=True)
    ]


def commit_detail_view(
    commit: Commit,
    stats: CommitStats | None,
    status: str | None,
    project_id: int,
    project_url: str,
    last_pipeline: PipelineBrief | None = None,
) -> CommitDetailView:
    """Return the detailed view of a commit, with line counts if given."""
    counts = UNSET if stats is None else stats_view(stats)
    return CommitDetailView(
        *_fields(commit, project_url), project_id=project_id, status=status, last_pipeline=last_pipeline, stats=counts
    )


def stats_view(stats: CommitStats) -> StatsView:
    """Return the view of line counts."""
    return StatsView(stats.additions, stats.deletions, stats.total)


def diff_view(change: FileDiff) -> DiffView:
    """Return the view of a file in a diff."""
    return DiffView(
        diff=change.diff,
        new_path=decode_text(change.new_path),
        old_path=decode_text(change.old_path),
        a_mode=change.a_mode,
        b_mode=change.b_mode,
        new_file=change.new_file,
        renamed_file=change.renamed_file,
        deleted_file=change.deleted_file,
        too_large=change.too_large,
        collapsed=change.collapsed,
    )


def truncated_title(commit: Commit) -> str:
    """Return the title, truncated at a word boundary if it is too long."""
    title = commit.title
    if len(title) < _MAX_TITLE_LENGTH:
        return title or "--no commit message"
    cut = title[:_TRUNCATED_TITLE_LENGTH]
    return (_LAST_WORD.sub("", cut) or cut) + "…"


def signature_time(signature: Signature) -> str:
    """Return the time in the signer's time zone; times that datetime cannot represent are clamped."""
    return _local_time(signature.time, signature.offset)


# Author and committer usually have the same time and lists repeat commits: 0.2 µs instead of 3 µs.
@lru_cache(4096)
def _local_time(time: int, offset: int) -> str:
    try:
        zone = timezone(timedelta(minutes=offset))
    except (ValueError, OverflowError):
        zone = UTC
    try:
        moment = datetime.fromtimestamp(time, zone)
    except (ValueError, OverflowError, OSError):  # Beyond what a calendar holds.
        moment = (datetime.max if time > 0 else datetime.min).replace(tzinfo=UTC)
    return moment.isoformat(timespec="milliseconds")


class CommitOutcome(NamedTuple):
    """The status of a commit's pipelines, and the newest of them."""

    status: str | None
    pipeline_id: int


def commit_outcomes(db: Connection, project_id: int, shas: Sequence[str]) -> dict[str, CommitOutcome]:
    """Return the outcomes of those of these commits that have pipelines; one statement for all."""
    found = pipelines_of_commits(db, project_id, shas)
    return {sha: CommitOutcome(overall_pipeline_status(pipelines), pipelines[0].id) for sha, pipelines in found.items()}
