"""Current work on the project Tidewatch: its first commits, and the issues and merge requests of the last weeks."""

import re
from functools import partial
from typing import Any

from ingot.collaboration.issues import api as issues_api
from ingot.collaboration.issues.discussions import api as issue_discussions_api
from ingot.collaboration.labels import api as labels_api
from ingot.collaboration.merge_requests import api as merge_requests_api
from ingot.collaboration.merge_requests.discussions import api as merge_request_discussions_api
from ingot.collaboration.merge_requests.merge import api as merge_api
from ingot.collaboration.milestones import api as milestones_api
from ingot.collaboration.snippets import api as snippets_api
from ingot.core.api.routes import AlternateResponse
from ingot.core.errors import Conflict
from ingot.maintenance.demo.client import DemoClient
from ingot.maintenance.demo.clock import Step
from ingot.maintenance.demo.repository import (
    CONFLICTING_COMMIT,
    DEMO_COMMITS,
    DEMO_MERGE_REQUESTS,
    MAIN,
    RELEASES,
    REVIEW_COMMENT,
    REVIEW_DAYS_AGO,
    REVIEWED_FILE,
    REVIEWED_LINE,
    REVIEWER,
    SNIPPET,
    SNIPPET_DAYS_AGO,
    WIKI,
    DemoCommit,
    DemoMergeRequest,
)
from ingot.maintenance.demo.runner import DemoRunner
from ingot.maintenance.demo.signed_commits import SignedCommits
from ingot.maintenance.demo.users import DEMO_USERS
from ingot.maintenance.demo.work_items import DEMO_ISSUES, FURTHER_LABELS, MILESTONE, DemoComment, DemoIssue
from ingot.repositories.commit_writing import api as commit_writing_api
from ingot.repositories.tags import api as tags_api
from ingot.repositories.wikis import api as wikis_api

_OWNER = DEMO_USERS[0].username
_REFERENCE = re.compile(r"#(\d+)")


class CurrentWork:
    """Plans the current work; its texts count issues from 1, after those that the project has already."""

    def __init__(self, client: DemoClient, runner: DemoRunner, signed_commits: SignedCommits) -> None:
        self._client = client
        self._runner = runner
        self._signed_commits = signed_commits
        self._existing_files = {"README.md"}
        self._earlier_issues = 0
        self._numbers: dict[str, int] = {}

    def plan(self) -> list[Step]:
        """Return the steps from the first commit to the last release."""
        ask = self._client.ask
        steps: list[Step] = [(359, 9, self._create_labels)]
        changes = (*DEMO_COMMITS, CONFLICTING_COMMIT)
        steps += [(change.days_ago, 10, partial(self._commit, change)) for change in changes]
        for days_ago, title, content in WIKI:
            page = {"title": title, "content": content}
            steps.append((days_ago, 15, partial(ask, _OWNER, wikis_api.create_page, page)))
        steps.append((SNIPPET_DAYS_AGO, 15, partial(ask, _OWNER, snippets_api.create_project_snippet, SNIPPET)))
        for days_ago, tag, text in RELEASES:
            release = {"tag_name": tag, "ref": MAIN, "release_description": text}
            steps.append((days_ago, 16, partial(self._release, release)))
        for issue in DEMO_ISSUES:
            steps.append((issue.days_ago, 9, partial(self._open_issue, issue)))
            steps += [(each.days_ago, 11, partial(self._comment_issue, issue, each)) for each in issue.comments]
        for request in DEMO_MERGE_REQUESTS:
            steps += self._plan_merge_request(request)
        return [*steps, (REVIEW_DAYS_AGO, 16, self._review_lines)]

    def _plan_merge_request(self, request: DemoMergeRequest) -> list[Step]:
        steps: list[Step] = [(request.days_ago, 12, partial(self._open_merge_request, request))]
        for number, (name, text) in enumerate(request.comments, 1):
            steps.append((request.days_ago - number, 13, partial(self._comment_merge_request, request, name, text)))
        if request.merged_by:
            steps.append((request.days_ago - 2, 14, partial(self._merge, request)))
        return steps

    def _local(self, text: str) -> str:
        """Return a text with the numbers that its issues have in the project."""
        return _REFERENCE.sub(lambda match: f"#{int(match[1]) + self._earlier_issues}", text)

    def _create_labels(self) -> None:
        for name, color, description in FURTHER_LABELS:
            label = {"name": name, "color": color, "description": description}
            self._client.ask(_OWNER, labels_api.create_project_label, label)
        self._client.ask(_OWNER, milestones_api.create_milestone, {"title": MILESTONE})

    def _commit(self, change: DemoCommit) -> None:
        # Commits to the protected branch are pushed by the owner, but name their author.
        committer = _OWNER if change.branch == MAIN else change.author
        change = change._replace(message=self._local(change.message))
        if change.signed:
            self._signed_commits.push(self._client.project, committer, change, self._existing_files)
        else:
            self._commit_unsigned(committer, change)
        if change.branch == MAIN:
            self._existing_files.update(change.files)
        self._runner.run(failing=change.fails)

    def _commit_unsigned(self, committer: str, change: DemoCommit) -> None:
        author = next(person for person in DEMO_USERS if person.username == change.author)
        actions = [
            {"action": "update" if path in self._existing_files else "create", "file_path": path, "content": content}
            for path, content in change.files.items()
        ]
        sent: dict[str, Any] = {"branch": change.branch, "commit_message": change.message, "actions": actions}
        sent |= {"author_name": author.name, "author_email": author.email}
        if change.creates_branch:
            sent["start_branch"] = MAIN
        self._client.ask(committer, commit_writing_api.create_commit, sent)

    def _release(self, release: dict[str, str]) -> None:
        self._client.ask(_OWNER, tags_api.create_tag, release)
        self._runner.run()

    def _open_issue(self, issue: DemoIssue) -> None:
        sent = {"title": issue.title, "description": self._local(issue.description)}
        number = self._client.ask(issue.author, issues_api.create_issue, sent).iid
        if issue is DEMO_ISSUES[0]:
            self._earlier_issues = number - 1
        self._numbers[issue.title] = number

    def _comment_issue(self, issue: DemoIssue, comment: DemoComment) -> None:
        path_params = {"issue_iid": self._numbers[issue.title]}
        sent = {"body": self._local(comment.text)}
        self._client.ask(comment.author, issue_discussions_api.NOTES.write_note, sent, **path_params)

    def _open_merge_request(self, request: DemoMergeRequest) -> None:
        sent: dict[str, Any] = {"source_branch": request.branch, "target_branch": MAIN, "title": request.title}
        sent |= {"description": self._local(request.description), "reviewer_ids": [self._client.user_id(REVIEWER)]}
        merge_request = self._client.ask(request.author, merge_requests_api.create_merge_request, sent)
        if isinstance(merge_request, AlternateResponse):
            raise Conflict(f"The merge request {request.title!r} cannot be opened: {merge_request.content}")
        self._numbers[request.branch] = merge_request.iid

    def _comment_merge_request(self, request: DemoMergeRequest, author: str, text: str) -> None:
        path_params = {"merge_request_iid": self._numbers[request.branch]}
        self._client.ask(author, merge_request_discussions_api.NOTES.write_note, {"body": text}, **path_params)

    def _merge(self, request: DemoMergeRequest) -> None:
        path_params = {"merge_request_iid": self._numbers[request.branch]}
        self._client.ask(request.merged_by, merge_api.merge_merge_request, {}, **path_params)
        self._runner.run()

    def _review_lines(self) -> None:
        """Discuss a line of the first merge request, with a suggestion that can be applied."""
        path_params = {"merge_request_iid": self._numbers[DEMO_MERGE_REQUESTS[0].branch]}
        request = self._client.ask(REVIEWER, merge_requests_api.get_merge_request, {}, **path_params)
        refs = request.diff_refs
        if refs is None:
            return
        position = {"base_sha": refs.base_sha, "start_sha": refs.start_sha, "head_sha": refs.head_sha}
        position |= {"position_type": "text", "old_path": REVIEWED_FILE, "new_path": REVIEWED_FILE}
        sent = {"body": REVIEW_COMMENT, "position": {**position, "new_line": REVIEWED_LINE}}
        self._client.ask(REVIEWER, merge_request_discussions_api.create_discussion, sent, **path_params)
