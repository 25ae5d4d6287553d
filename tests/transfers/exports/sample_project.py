"""Project with data of every kind that an export contains."""

from typing import Any

import httpx

from ingot.core.access.levels import Level
from tests.client import Make, User
from tests.factories import Group, Project, make_group, make_project
from tests.ssh_public_keys import ed25519_line


class SampleProject:
    """The project, its group and its users."""

    def __init__(self, make: Make) -> None:
        self.make = make
        self.owner, self.reporter = make.user(), make.user()
        self.group: Group = make_group(make, self.owner)
        self.project: Project = make_project(make, self.owner, group=self.group, description="A sample: #1, !1")
        self._post(f"{self.url}/members", user_id=self.reporter.id, access_level=int(Level.DEVELOPER))
        self._add_settings()
        self._add_repository()
        self._add_planning()
        self._add_issues()
        self._add_merge_requests()
        self._add_other_resources()

    @property
    def url(self) -> str:
        """Return the API path of the project."""
        return self.project.url

    def _post(self, path: str, as_user: User | None = None, **params: Any) -> Any:
        answer = self.make.api.post(path, as_user or self.owner, **params)
        assert answer.status_code in (200, 201), answer.text
        return answer.json()

    def _put(self, path: str, **params: Any) -> Any:
        answer = self.make.api.put(path, self.owner, **params)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def _upload(self, name: str, content: bytes) -> str:
        answer: httpx.Response = self.make.api.request(
            "POST", f"{self.url}/uploads", self.owner, files={"file": (name, content)}
        )
        assert answer.status_code == 201, answer.text
        markdown: str = answer.json()["markdown"]
        return markdown

    def _add_settings(self) -> None:
        self._put(
            self.url,
            merge_method="rebase_merge",
            squash_option="default_on",
            topics=["export", "sample"],
            build_timeout=1800,
            suggestion_commit_message="Apply %{suggestions_count}",
            wiki_access_level="private",
        )

    def _add_repository(self) -> None:
        actions = [{"action": "create", "file_path": "README.md", "content": "one\ntwo\nthree\n"}]
        self._post(f"{self.url}/repository/commits", branch="main", commit_message="Start", actions=actions)
        for branch, line in (("feature", "changed"), ("done", "done"), ("closed", "closed")):
            edit = {"action": "update", "file_path": "README.md", "content": f"one\n{line}\nthree\n"}
            if branch == "done":
                edit = {"action": "create", "file_path": "done.txt", "content": "done\n"}
            self._post(
                f"{self.url}/repository/commits",
                branch=branch,
                start_branch="main",
                commit_message=f"Work on {branch}",
                actions=[edit],
            )
        self._post(f"{self.url}/repository/tags", tag_name="v1", ref="main")
        self._post(f"{self.url}/wikis", title="Home", content="Welcome to the wiki")

    def _add_planning(self) -> None:
        for title, color, priority in (("bug", "#ff0000", 1), ("feature", "#00ff00", None)):
            self._post(f"{self.url}/labels", name=title, color=color, description=f"A {title}", priority=priority)
        self._post(f"/groups/{self.group.id}/labels", name="group label", color="#0000ff")
        dates: dict[str, Any] = {"start_date": "2026-01-01", "due_date": "2026-02-01"}
        self.milestone = self._post(f"{self.url}/milestones", title="1.0", description="First", **dates)
        self.group_milestone = self._post(f"/groups/{self.group.id}/milestones", title="group milestone")
        board = self._post(f"{self.url}/boards", name="Work")
        for label in self.make.api.get(f"{self.url}/labels", self.owner).json()[:2]:
            self._post(f"{self.url}/boards/{board['id']}/lists", label_id=label["id"], max_issue_count=3)

    def _add_issues(self) -> None:
        attachment = self._upload("notes.txt", b"attached text")
        first = self._post(
            f"{self.url}/issues",
            title="First",
            description=f"See {attachment} by @{self.reporter.username}",
            labels="bug,group label",
            milestone_id=self.milestone["id"],
            assignee_ids=[self.reporter.id],
            due_date="2026-03-01",
        )
        self._post(f"{self.url}/issues", title="Secret", confidential=True, milestone_id=self.group_milestone["id"])
        gone = self._post(f"{self.url}/issues", title="Deleted")
        self._post(f"{self.url}/issues", self.reporter, title="Closed by the reporter")
        self.make.api.delete(f"{self.url}/issues/{gone['iid']}", self.owner)
        for title in ("Second part", "First part"):
            self._post(f"{self.url}/issues", title=title, issue_type="task", parent_id=first["id"])
        url = f"{self.url}/issues/{first['iid']}"
        discussion = self._post(f"{url}/discussions", body="A discussion")
        self._post(f"{url}/discussions/{discussion['id']}/notes", self.reporter, body="A reply")
        note = self._post(f"{url}/notes", self.reporter, body="An individual note")
        self._post(f"{url}/notes/{note['id']}/award_emoji", name="heart")
        self._post(f"{url}/award_emoji", self.reporter, name="thumbsup")
        self._post(f"{url}/time_estimate", duration="3h")
        self._post(f"{url}/add_spent_time", duration="1h", summary="Work")
        self._post(f"{url}/add_spent_time", self.reporter, duration="30m")
        self._put(f"{url}", labels="bug,feature")
        self._put(f"{self.url}/issues/4", state_event="close", discussion_locked=True)
        self._post(f"{url}/links", target_project_id=self.project.id, target_issue_iid=2, link_type="is_blocked_by")

    def _add_merge_requests(self) -> None:
        for branch, title in (("feature", "Draft: Feature"), ("done", "Done"), ("closed", "Closed")):
            self._post(
                f"{self.url}/merge_requests",
                source_branch=branch,
                target_branch="main",
                title=title,
                labels="feature",
                reviewer_ids=[self.reporter.id],
                assignee_ids=[self.owner.id],
                description="Closes #1" if branch == "done" else "",
            )
        url = f"{self.url}/merge_requests/1"
        refs = self.make.api.get(url, self.owner).json()["diff_refs"]
        position = {**refs, "position_type": "text", "old_path": "README.md", "new_path": "README.md", "new_line": 2}
        body = "On a line\n```suggestion\nbetter\n```\n"
        on_line = self._post(f"{url}/discussions", self.reporter, body=body, position=position)
        self._put(f"{url}/discussions/{on_line['id']}", resolved=True)
        self._post(f"{url}/notes", body="On the whole")
        self._post(f"{url}/approve", self.reporter)
        self._post(f"{self.url}/merge_requests/3/notes", self.reporter, body="Not yet\n/request_changes")
        self._put(f"{self.url}/merge_requests/2/merge", should_remove_source_branch=True)
        self._put(f"{self.url}/merge_requests/3", state_event="close")

    def _add_other_resources(self) -> None:
        link = {"name": "Binary", "url": "https://example.org/binary", "link_type": "package", "filepath": "/bin"}
        release: dict[str, Any] = {"tag_name": "v1", "name": "Version 1", "description": "Notes", "milestones": ["1.0"]}
        self._post(f"{self.url}/releases", **release, assets={"links": [link]})
        files = [{"file_path": "a.py", "content": "print(1)\n"}, {"file_path": "b.txt", "content": "two\n"}]
        snippet = self._post(f"{self.url}/snippets", title="Snippet", visibility="private", files=files)
        self._post(f"{self.url}/snippets/{snippet['id']}/notes", body="On the snippet")
        self._post(f"{self.url}/protected_branches", name="release-*", push_access_level=30, merge_access_level=30)
        self._post(f"{self.url}/protected_tags", name="v*", create_access_level=40)
        deployers = [{"access_level": 30}, {"access_level": 40}]
        self._post(f"{self.url}/protected_environments", name="production", deploy_access_levels=deployers)
        self._post(f"{self.url}/hooks", url="https://example.org/hook", token="a-hook-secret", issues_events=True)
        self._post(f"{self.url}/variables", key="SECRET", value="a-variable-secret")
        self._post(
            f"{self.url}/badges", link_url="https://example.org", image_url="https://example.org/b.svg", name="b"
        )
        self._post(f"{self.url}/deploy_keys", title="Deploy", key=ed25519_line(), can_push=True)
        head = self.make.api.get(f"{self.url}/repository/commits/main", self.owner).json()["id"]
        self._post(f"{self.url}/statuses/{head}", state="success", name="external", coverage=91.5)
        self._post(f"{self.url}/repository/commits/{head}/comments", note="On the commit")
        schedule: dict[str, Any] = {
            "description": "Nightly",
            "ref": "main",
            "cron": "0 1 * * *",
            "cron_timezone": "Europe/Berlin",
        }
        self._post(f"{self.url}/pipeline_schedules", **schedule)
