"""Ports of ``collaboration``."""

from typing import TYPE_CHECKING

from ingot.core.db.ports import PortFillers
from ingot.core.settings import Settings

if TYPE_CHECKING:
    from ingot.collaboration.boards.ports import BoardDefaults
    from ingot.collaboration.external_issues import ExternalTrackers
    from ingot.collaboration.issues.ports import IssueBoards, IssueMergeRequests
    from ingot.collaboration.merge_requests.ports import MergeRequestAddresses
    from ingot.collaboration.participants.ports import SubjectKinds

ports = PortFillers()


@ports.fill
def subject_kinds(_: Settings) -> "SubjectKinds":
    from ingot.collaboration.issues.subject_kind import ISSUE_KIND
    from ingot.collaboration.merge_requests.subject_kind import MERGE_REQUEST_KIND
    from ingot.collaboration.participants.ports import SubjectKinds

    return SubjectKinds((ISSUE_KIND, MERGE_REQUEST_KIND))


@ports.fill
def issue_boards(_: Settings) -> "IssueBoards":
    from ingot.collaboration.boards.queries import labels_of_only_board
    from ingot.collaboration.issues.ports import IssueBoards

    return IssueBoards(labels_of_only_board)


@ports.fill
def issue_merge_requests(settings: Settings) -> "IssueMergeRequests":
    from ingot.collaboration.issues.ports import IssueMergeRequests
    from ingot.collaboration.merge_requests.discussions.follow_up_issues import follow_up_description
    from ingot.collaboration.merge_requests.editing.relations import (
        RelatedMergeRequests,
        count_closing_merge_requests,
    )
    from ingot.projects.projects.api import repository_store

    related = RelatedMergeRequests(repository_store(settings))
    return IssueMergeRequests(
        list_closing=related.list_closing,
        list_related=related.list_related,
        count_closing=count_closing_merge_requests,
        follow_up_description=follow_up_description,
    )


@ports.fill
def merge_request_addresses(settings: Settings) -> "MergeRequestAddresses":
    from ingot.collaboration.merge_requests.ports import MergeRequestAddresses

    return MergeRequestAddresses(settings.base_url)


@ports.fill
def external_trackers(_: Settings) -> "ExternalTrackers":
    from ingot.collaboration.external_issues import ExternalTrackers
    from ingot.integrations.queries import external_tracker_or_none

    return ExternalTrackers(external_tracker_or_none)


@ports.fill
def board_defaults(settings: Settings) -> "BoardDefaults":
    from ingot.collaboration.boards.ports import BoardDefaults

    return BoardDefaults(has_first_board=settings.profile == "9.4")
