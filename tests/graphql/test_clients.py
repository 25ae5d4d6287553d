"""Queries with the fields and variables that clients send: GitLab's VS Code extension, glab, python-gitlab."""

from typing import Any

import pytest

from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, add_members, make_group, make_project
from tests.git_history import History
from tests.graphql.conftest import Graphql

POSITION = """fragment place on Note { position { diffRefs { baseSha headSha startSha } filePath positionType
    newLine oldLine newPath oldPath } }"""
NOTE = f"""{POSITION} fragment noteFields on Note {{ id createdAt system author {{ avatarUrl name username webUrl }}
    body bodyHtml url userPermissions {{ resolveNote adminNote createNote }} ...place }}"""
DISCUSSION = f"""{NOTE} fragment thread on Discussion {{ replyId createdAt resolved resolvable
    notes {{ pageInfo {{ hasNextPage endCursor }} nodes {{ ...noteFields }} }} }}"""
DISCUSSIONS = f"""{DISCUSSION} fragment threads on DiscussionConnection {{
    pageInfo {{ hasNextPage endCursor }} nodes {{ ...thread }} }}"""
PROJECT = """fragment projectFields on Project { id name description httpUrlToRepo sshUrlToRepo fullPath webUrl
    wikiEnabled group { id } }"""


@pytest.fixture(scope="module")
def owner(make: Make) -> User:
    return make.user()


@pytest.fixture(scope="module")
def project(instance: Instance, make: Make, owner: User) -> Project:
    project = make_project(make, owner)
    history = History()
    history.commit("master", {"README.md": "hello\n", "src/a.py": "print()\n"})
    history.commit("topic", {"README.md": "hello\nworld\n"}, parents=(1,))
    history.fill(instance, project)
    api = make.api
    api.post(f"{project.url}/issues", owner, title="one", labels="bug")
    api.post(f"{project.url}/issues/1/notes", owner, body="a **note** on #1")
    sent = {"source_branch": "topic", "target_branch": "master", "title": "merge"}
    assert api.post(f"{project.url}/merge_requests", owner, **sent).status_code == 201
    api.post(f"{project.url}/merge_requests/1/discussions", owner, body="thread")
    return project


def test_the_editor_extension_reads_projects(graphql: Graphql, project: Project, owner: User) -> None:
    one = "query One($projectPath: ID!) { project(fullPath: $projectPath) { ...projectFields } } " + PROJECT
    shown = graphql.data(one, owner, projectPath=project.path)["project"]
    assert (shown["id"], shown["fullPath"], shown["group"]) == (
        f"gid://gitlab/Project/{project.id}",
        project.path,
        None,
    )
    many = """query Many($search: String, $membership: Boolean, $limit: Int, $searchNamespaces: Boolean) {
        projects(search: $search, membership: $membership, first: $limit, searchNamespaces: $searchNamespaces) {
        nodes { ...projectFields repository { empty } } } } """
    listed = graphql.data(many + PROJECT, owner, membership=True, limit=10)["projects"]["nodes"]
    assert (project.path, {"empty": False}) in [(each["fullPath"], each["repository"]) for each in listed]


@pytest.mark.parametrize("kind", ["issue", "mergeRequest"])
def test_the_editor_extension_discusses(graphql: Graphql, project: Project, owner: User, kind: str) -> None:
    query = f"""query Threads($projectPath: ID!, $iid: String!, $afterCursor: String) {{
        project(fullPath: $projectPath) {{ id
        {kind}(iid: $iid) {{ discussions(after: $afterCursor) {{ ...threads }} }} }} }} {DISCUSSIONS}"""
    variables: dict[str, Any] = {"projectPath": project.path, "iid": "1"}
    page = graphql.data(query, owner, **variables)["project"][kind]["discussions"]
    thread = next(each for each in page["nodes"] if not each["notes"]["nodes"][0]["system"])
    note = thread["notes"]["nodes"][0]
    assert note["userPermissions"] == {"resolveNote": kind == "mergeRequest", "adminNote": True, "createNote": True}
    assert note["url"].endswith(f"#note_{note['id'].rpartition('/')[2]}")
    assert "<p" in note["bodyHtml"]
    after = graphql.data(query, owner, **variables, afterCursor=page["pageInfo"]["endCursor"])
    assert after["project"][kind]["discussions"]["nodes"] == []
    subject = graphql.data(
        f"""query($path: ID!) {{ project(fullPath: $path) {{
        {kind}(iid: "1") {{ id userPermissions {{ createNote }} }} }} }}""",
        owner,
        path=project.path,
    )["project"][kind]
    assert subject["userPermissions"] == {"createNote": True}
    create = f"""mutation Add($issuableId: NoteableID!, $body: String!, $replyId: DiscussionID) {{
        createNote(input: {{ noteableId: $issuableId, body: $body, discussionId: $replyId }}) {{
        errors note {{ ...noteFields }} }} }} {NOTE}"""
    added = graphql.data(create, owner, issuableId=subject["id"], body="reply", replyId=thread["replyId"])["createNote"]
    assert (added["errors"], added["note"]["body"]) == ([], "reply")
    update = """mutation Edit($noteId: NoteID!, $body: String) { updateNote(input: { id: $noteId, body: $body }) {
        errors } }"""
    assert graphql.data(update, owner, noteId=added["note"]["id"], body="b") == {"updateNote": {"errors": []}}
    if kind == "mergeRequest":
        resolve = """mutation Resolve($replyId: DiscussionID!, $resolved: Boolean!) {
            discussionToggleResolve(input: { id: $replyId, resolve: $resolved }) { errors } }"""
        data = graphql.data(resolve, owner, replyId=thread["replyId"], resolved=True)
        assert data == {"discussionToggleResolve": {"errors": []}}
    delete = "mutation Remove($noteId: NoteID!) { destroyNote(input: { id: $noteId }) { errors } }"
    assert graphql.data(delete, owner, noteId=added["note"]["id"]) == {"destroyNote": {"errors": []}}


def test_the_editor_extension_reads_snippets(graphql: Graphql, api: Api, project: Project, owner: User) -> None:
    files = [{"file_path": "a.txt", "content": "text"}]
    made = api.post(f"{project.url}/snippets", owner, title="s", visibility="private", files=files).json()
    query = """query Snippets($projectPath: ID!, $afterCursor: String) { project(fullPath: $projectPath) { id
        snippets(after: $afterCursor) { pageInfo { hasNextPage endCursor } nodes { id title description
        blobs { nodes { name path rawPath } } } } } }"""
    snippet = graphql.data(query, owner, projectPath=project.path)["project"]["snippets"]["nodes"][0]
    assert snippet["id"] == f"gid://gitlab/ProjectSnippet/{made['id']}"
    content = """query Content($snippetId: SnippetID!) { snippets(ids: [$snippetId]) { nodes { blobs { nodes {
        path rawPlainData } } } } }"""
    blobs = graphql.data(content, owner, snippetId=snippet["id"])["snippets"]["nodes"][0]["blobs"]["nodes"]
    assert blobs == [{"path": "a.txt", "rawPlainData": "text"}]


def test_the_editor_extension_starts(graphql: Graphql, project: Project, owner: User) -> None:
    """At its start it requests the level of the user, and whether there are AI features."""
    level = """query Level($namespaceWithPath: ID!) { project(fullPath: $namespaceWithPath) {
        maxAccessLevel { integerValue } duoFeaturesEnabled } }"""
    shown = graphql.data(level, owner, namespaceWithPath=project.path)["project"]
    assert shown == {"maxAccessLevel": {"integerValue": 40}, "duoFeaturesEnabled": False}
    features = """query Features { currentUser { duoChatAvailable duoCodeSuggestionsAvailable
        ide { codeSuggestionsEnabled } } }"""
    assert graphql.data(features, owner)["currentUser"] == {
        "duoChatAvailable": False,
        "duoCodeSuggestionsAvailable": False,
        "ide": {"codeSuggestionsEnabled": False},
    }
    assert graphql.data(features)["currentUser"] is None


def test_the_editor_extension_publishes_a_folder(graphql: Graphql, make: Make) -> None:
    """It asks for the namespaces in which the user may create a project."""
    user, other = make.user(), make.user()
    groups = {name: make_group(make, other) for name in ("developer", "maintainer", "reporter")}
    settings = {"project_creation_level": "maintainer"}
    assert make.api.put(groups["maintainer"].url, other, **settings).status_code == 200
    for name, level in (("developer", 30), ("maintainer", 30), ("reporter", 20)):
        add_members(make, groups[name], {user: level})
    own = make_group(make, user)
    query = """query Places($search: String, $scope: GroupPermission) { currentUser { id
        groups(permissionScope: $scope, search: $search) { nodes { id fullPath name visibility webUrl } }
        namespace { id fullPath } } }"""
    places = graphql.data(query, user, scope="CREATE_PROJECTS")["currentUser"]
    assert {each["fullPath"] for each in places["groups"]["nodes"]} == {own.path, groups["developer"].path}
    assert places["namespace"]["fullPath"] == user.username
    found = graphql.data(query, user, scope="CREATE_PROJECTS", search=own.path)["currentUser"]["groups"]["nodes"]
    assert [each["fullPath"] for each in found] == [own.path]
    moved = graphql.data(query, user, scope="TRANSFER_PROJECTS")["currentUser"]["groups"]["nodes"]
    assert [each["fullPath"] for each in moved] == [own.path]


def test_the_editor_extension_comments_on_lines(graphql: Graphql, project: Project, owner: User, api: Api) -> None:
    merge = api.get(f"{project.url}/merge_requests/1", owner).json()
    create = f"""mutation Comment($issuableId: NoteableID!, $body: String!, $position: DiffPositionInput!) {{
        createDiffNote(input: {{ noteableId: $issuableId, body: $body, position: $position }}) {{
        errors note {{ discussion {{ ...thread }} }} }} }} {DISCUSSION}"""
    refs = {"baseSha": "base_sha", "headSha": "head_sha", "startSha": "start_sha"}
    position = {name: merge["diff_refs"][key] for name, key in refs.items()}
    position |= {"paths": {"newPath": "README.md", "oldPath": "README.md"}, "newLine": 2}
    subject = {"issuableId": f"gid://gitlab/MergeRequest/{merge['id']}", "body": "on a line"}
    created = graphql.data(create, owner, **subject, position=position)["createDiffNote"]
    assert created["errors"] == []
    (note,) = created["note"]["discussion"]["notes"]["nodes"]
    assert (note["position"]["newLine"], note["position"]["filePath"]) == (2, "README.md")
    reply = f"""mutation Reply($issuableId: NoteableID!, $body: String!, $replyId: DiscussionID,
        $mergeRequestDiffHeadSha: String) {{ createNote(input: {{ noteableId: $issuableId, body: $body,
        discussionId: $replyId, mergeRequestDiffHeadSha: $mergeRequestDiffHeadSha }}) {{
        errors note {{ ...noteFields }} }} }} {NOTE}"""
    sent = {"replyId": created["note"]["discussion"]["replyId"], "mergeRequestDiffHeadSha": merge["sha"]}
    added = graphql.data(reply, owner, **subject, **sent)["createNote"]
    assert (added["errors"], added["note"]["position"]["newLine"]) == ([], 2)


def test_the_examples_of_glab_run(graphql: Graphql, project: Project, owner: User) -> None:
    """``glab api graphql`` sends fields other than the query as variables."""
    query = """query($path: ID!) { currentUser { username } project(fullPath: $path) { name forksCount
        statistics { wikiSize } issuesEnabled boards { nodes { id name } } } }"""
    shown = graphql.send({"query": query, "variables": {"path": project.path}}, owner).json()["data"]
    assert shown["currentUser"] == {"username": owner.username}
    assert (shown["project"]["forksCount"], shown["project"]["issuesEnabled"]) == (0, True)
    assert shown["project"]["statistics"] == {"wikiSize": None}


def test_pages_are_followed_by_cursors(graphql: Graphql, api: Api, make: Make, owner: User) -> None:
    """``glab api graphql --paginate`` repeats a query with the cursor as ``$endCursor``."""
    project = make_project(make, owner)
    for number in range(7):
        api.post(f"{project.url}/issues", owner, title=f"{number}")
    query = """query($path: ID!, $endCursor: String, $first: Int) { project(fullPath: $path) {
        issues(first: $first, after: $endCursor, sort: CREATED_ASC) { count nodes { title } edges { cursor }
        pageInfo { hasNextPage hasPreviousPage endCursor startCursor } } } }"""
    titles: list[str] = []
    cursor, sizes = None, iter([3, 2, 5])
    while cursor is not None or not titles:
        page = graphql.data(query, owner, path=project.path, first=next(sizes), endCursor=cursor)["project"]["issues"]
        titles += [node["title"] for node in page["nodes"]]
        cursor = page["pageInfo"]["endCursor"] if page["pageInfo"]["hasNextPage"] else None
        assert page["count"] == 7
    assert titles == list("0123456")
    back = """query($path: ID!, $before: String) { project(fullPath: $path) {
        issues(last: 2, before: $before, sort: CREATED_ASC) { nodes { title } pageInfo { startCursor } } } }"""
    last = graphql.data(back, owner, path=project.path)["project"]["issues"]
    assert [node["title"] for node in last["nodes"]] == ["5", "6"]
    previous = graphql.data(back, owner, path=project.path, before=last["pageInfo"]["startCursor"])["project"]["issues"]
    assert [node["title"] for node in previous["nodes"]] == ["3", "4"]
    wrong = graphql.answer(query, owner, path=project.path, endCursor="nonsense")
    assert (wrong["data"]["project"]["issues"], wrong["errors"][0]["path"]) == (None, ["project", "issues"])


def test_repositories_are_read(graphql: Graphql, project: Project, owner: User) -> None:
    query = """query($path: ID!) { project(fullPath: $path) { repository { rootRef
        tree(ref: "master", recursive: true) { blobs { nodes { path webPath } } trees { nodes { name } }
        lastCommit { title } }
        paginatedTree(path: "src") { nodes { blobs { nodes { path } } } }
        blobs(paths: ["README.md", "none"]) { nodes { path rawBlob rawSize base64EncodedBlob } }
        branchNames(searchPattern: "*", offset: 0, limit: 10)
        commit(ref: "topic") { message authorName author { username } diffs { newPath } } } } }"""
    repository = graphql.data(query, owner, path=project.path)["project"]["repository"]
    assert repository["commit"]["author"] is None, "No user has the address of the commits."
    assert [each["path"] for each in repository["tree"]["blobs"]["nodes"]] == ["README.md", "src/a.py"]
    assert repository["paginatedTree"]["nodes"][0]["blobs"]["nodes"] == [{"path": "src/a.py"}]
    assert repository["blobs"]["nodes"] == [
        {"path": "README.md", "rawBlob": "hello\n", "rawSize": "6", "base64EncodedBlob": "aGVsbG8K"}
    ]
    assert sorted(repository["branchNames"]) == ["master", "topic"]
    assert repository["commit"]["diffs"] == [{"newPath": "README.md"}]


def test_commits_have_the_users_with_their_addresses(graphql: Graphql, make: Make, owner: User) -> None:
    project = make_project(make, owner, initialize_with_readme=True)
    query = """query($path: ID!) { project(fullPath: $path) { repository {
        commit(ref: "HEAD") { author { username } } } } }"""
    shown = graphql.data(query, owner, path=project.path)["project"]["repository"]["commit"]
    assert shown == {"author": {"username": owner.username}}


def test_merge_requests_are_read(graphql: Graphql, project: Project, owner: User) -> None:
    query = """query($path: ID!) { project(fullPath: $path) { mergeRequests(first: 20, state: opened) { nodes { iid
        author { username }
        diffStats { path additions deletions }
        diffStatsSummary { additions fileCount } commits { nodes { title } } commitCount approved
        approvedBy { nodes { id } }
        headPipeline { status } pipelines { nodes { id } } diffRefs { headSha } detailedMergeStatus mergeable
        targetProject { fullPath } sourceProject { fullPath } userPermissions { canMerge updateMergeRequest }
        participants { nodes { username } } } } } }"""
    merge = graphql.data(query, owner, path=project.path)["project"]["mergeRequests"]["nodes"][0]
    assert merge["diffStats"] == [{"path": "README.md", "additions": 1, "deletions": 0}]
    assert merge["userPermissions"] == {"canMerge": True, "updateMergeRequest": True}
    assert merge["targetProject"] == merge["sourceProject"] == {"fullPath": project.path}


def test_hidden_objects_are_null(graphql: Graphql, make: Make, project: Project, owner: User) -> None:
    stranger = make.user()
    issue = make.api.post(f"{project.url}/issues", owner, title="Hidden").json()
    queries = {
        "project": f'project(fullPath: "{project.path}") {{ id }}',
        "issue": f'issue(id: "gid://gitlab/Issue/{issue["id"]}") {{ title }}',
        "group": 'group(fullPath: "none") { id }',
    }
    for name, query in queries.items():
        for user in (stranger, None):
            assert graphql.data(f"{{ {query} }}", user) == {name: None}
    text = "build:\n  script: echo\n"
    check = """query($path: ID!, $text: String!) { ciConfig(projectPath: $path, content: $text) { status errors
        mergedYaml stages { nodes { name groups { nodes { jobs { nodes { name script } } } } } } } }"""
    config = graphql.data(check, owner, path=project.path, text=text)["ciConfig"]
    assert (config["status"], config["stages"]["nodes"][0]["name"]) == ("VALID", "test")
    assert graphql.data(check, stranger, path=project.path, text=text) == {"ciConfig": None}
