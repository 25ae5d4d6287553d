"""A year of backdated work on five projects, created through the API endpoints."""

import random
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Any

from ingot.collaboration.boards import api as boards_api
from ingot.collaboration.issues import api as issues_api
from ingot.collaboration.issues.discussions import api as issue_discussions_api
from ingot.collaboration.labels import api as labels_api
from ingot.collaboration.merge_requests import api as merge_requests_api
from ingot.collaboration.merge_requests.discussions import api as merge_request_discussions_api
from ingot.collaboration.merge_requests.merge import api as merge_api
from ingot.core.api.internal_client import V
from ingot.core.api.routes import AlternateResponse
from ingot.core.errors import Conflict
from ingot.maintenance.demo.client import DemoClient
from ingot.maintenance.demo.clock import DemoClock, Step
from ingot.maintenance.demo.current_work import CurrentWork
from ingot.maintenance.demo.group import REPORTERS
from ingot.maintenance.demo.pipeline_content import CI_FILE
from ingot.maintenance.demo.runner import DemoRunner
from ingot.maintenance.demo.signed_commits import SignedCommits
from ingot.maintenance.demo.users import DEMO_USERS
from ingot.maintenance.demo.work_items import GROUP
from ingot.maintenance.demo.year_content import DEMO_PROJECTS, LABELS, REVIEWS, DemoProject, DemoTopic
from ingot.projects.projects import api as projects_api
from ingot.repositories.commit_writing import api as commit_writing_api

MAIN = "master"


def add_demo_year(
    client: DemoClient,
    clock: DemoClock,
    namespace_id: int,
    signed_commits: SignedCommits,
    before_step: Callable[[], object],
) -> None:
    """Add the projects and let their teams work on them, in the order of time; ``before_step`` is called often."""
    runner = DemoRunner(client, clock, namespace_id)
    steps: list[Step] = CurrentWork(client, runner, signed_commits).plan()
    for number, content in enumerate(DEMO_PROJECTS):
        _create_project(client, content, namespace_id)
        steps += _DemoTeam(client, runner, content, random.Random(number)).plan()  # noqa: S311 - It only spreads the work.
    for days_ago, hour, step in sorted(steps, key=lambda each: (-each[0], each[1])):
        before_step()
        clock.set(days_ago, hour)
        step()
        clock.tick()


def _create_project(client: DemoClient, content: DemoProject, namespace_id: int) -> None:
    owner = DEMO_USERS[0].username
    sent = {
        "name": content.name,
        "path": content.path,
        "namespace_id": namespace_id,
        "description": content.description,
        "visibility": content.visibility,
        "initialize_with_readme": True,
        "default_branch": MAIN,
    }
    client.ask_instance(owner, projects_api.create_project, sent)
    project = client.of_project(f"{GROUP}/{content.path}")
    labels = [
        project.ask(owner, labels_api.create_project_label, {"name": name, "color": color, "description": description})
        for name, color, description in LABELS
    ]
    (board, *_) = project.ask(owner, boards_api.list_boards, {}).items
    for label in labels[-2:]:
        project.ask(owner, boards_api.create_board_list, {"label_id": label.id}, board_id=board.id)


class _DemoTeam:
    """Plans the work of a team: each topic has an issue, a branch, a merge request and a review."""

    def __init__(self, client: DemoClient, runner: DemoRunner, content: DemoProject, chance: random.Random) -> None:
        self._client = client.of_project(f"{GROUP}/{content.path}")
        self._runner = runner
        self._content = content
        self._chance = chance
        self._numbers: dict[str, int] = {}

    def plan(self) -> list[Step]:
        """Return the steps of all topics; the last ones are not completed."""
        topics, team = self._content.topics, self._content.team
        developers = [name for name in team if name not in REPORTERS]
        unfinished = self._content.unfinished
        distance = (350 - self._content.last_day) // len(topics)
        steps: list[Step] = [(357, 9, self._add_ci)]
        for index, topic in enumerate(topics):
            start = 350 - index * distance - self._chance.randrange(10)
            author = developers[index % len(developers)]
            reviewer = developers[(index + 1) % len(developers)]
            reporter = team[(index + 2) % len(team)]
            left = len(topics) - index
            if left <= unfinished:
                start = 4 * left + 6
            steps += self._topic(
                topic,
                (reporter, author, reviewer),
                start,
                is_open=left <= unfinished,
                is_new=left == 1 and unfinished > 0,
            )
        return steps

    def _topic(
        self, topic: DemoTopic, people: tuple[str, str, str], start: int, *, is_open: bool, is_new: bool
    ) -> list[Step]:
        reporter, author, reviewer = people
        hours = [self._chance.randrange(8, 18) for _ in range(6)]
        steps: list[Step] = [
            (start, hours[0], lambda: self._open_issue(topic, reporter, author)),
            (start - 1, hours[1], lambda: self._comment_issue(topic, author)),
        ]
        if is_new:
            return steps
        steps += [
            (start - 3, hours[2], lambda: self._commit(topic, author, failing=is_open)),
            (start - 3, min(hours[2] + 1, 18), lambda: self._propose(topic, author)),
            (start - 4, hours[4], lambda: self._review(topic, reviewer)),
        ]
        if not is_open:
            steps.append((start - 5, hours[5], lambda: self._merge(topic)))
        return steps

    def _ask(self, username: str, endpoint: Callable[..., V], sent: dict[str, Any], **path: object) -> V:
        return self._client.ask(username, endpoint, sent, **path)

    def _open_issue(self, topic: DemoTopic, author: str, assignee: str) -> None:
        text = f"{topic.description}\n\n/label ~{topic.label} ~doing\n/assign @{assignee}"
        issue = self._ask(author, issues_api.create_issue, {"title": topic.title, "description": text})
        self._numbers[f"issue {topic.title}"] = issue.iid

    def _comment_issue(self, topic: DemoTopic, author: str) -> None:
        path = {"issue_iid": self._numbers[f"issue {topic.title}"]}
        self._ask(author, issue_discussions_api.NOTES.write_note, {"body": "I can look at this today."}, **path)

    def _branch(self, topic: DemoTopic) -> str:
        return PurePosixPath(topic.file).stem.replace("_", "-")

    def _commit(self, topic: DemoTopic, author: str, *, failing: bool) -> None:
        person = next(each for each in DEMO_USERS if each.username == author)
        number = self._numbers[f"issue {topic.title}"]
        sent = {
            "branch": self._branch(topic),
            "start_branch": MAIN,
            "commit_message": f"{topic.title}\n\nCloses #{number}",
            "author_name": person.name,
            "author_email": person.email,
            "actions": [{"action": "create", "file_path": topic.file, "content": topic.code}],
        }
        self._ask(author, commit_writing_api.create_commit, sent)
        self._runner.run(failing=failing)

    def _propose(self, topic: DemoTopic, author: str) -> None:
        number = self._numbers[f"issue {topic.title}"]
        sent = {"source_branch": self._branch(topic), "target_branch": MAIN, "title": topic.title}
        described = {**sent, "description": f"{topic.description}\n\nCloses #{number}\n\n/label ~{topic.label}"}
        request = self._ask(author, merge_requests_api.create_merge_request, described)
        if isinstance(request, AlternateResponse):
            raise Conflict(f"The merge request {topic.title!r} cannot be opened: {request.content}")
        self._numbers[topic.title] = request.iid

    def _review(self, topic: DemoTopic, reviewer: str) -> None:
        path = {"merge_request_iid": self._numbers[topic.title]}
        text = REVIEWS[self._numbers[topic.title] % len(REVIEWS)]
        self._ask(reviewer, merge_request_discussions_api.NOTES.write_note, {"body": text}, **path)
        self._ask(reviewer, merge_request_discussions_api.approve_merge_request, {}, **path)

    def _merge(self, topic: DemoTopic) -> None:
        path = {"merge_request_iid": self._numbers[topic.title]}
        sent = {"should_remove_source_branch": True}
        merged = self._ask(DEMO_USERS[0].username, merge_api.merge_merge_request, sent, **path)
        if isinstance(merged, AlternateResponse):
            raise Conflict(f"The merge request {topic.title!r} cannot be merged: {merged.content}")
        issue_path = {"issue_iid": self._numbers[f"issue {topic.title}"]}
        self._ask(
            DEMO_USERS[0].username, issue_discussions_api.NOTES.write_note, {"body": "/unlabel ~doing"}, **issue_path
        )
        self._runner.run()

    def _add_ci(self) -> None:
        actions = [{"action": "create", "file_path": ".gitlab-ci.yml", "content": CI_FILE}]
        sent = {"branch": MAIN, "commit_message": "Build, test and deploy with pipelines", "actions": actions}
        self._ask(DEMO_USERS[0].username, commit_writing_api.create_commit, sent)
        self._runner.run()
