"""Fields whose values are not those of a REST response."""

from hashlib import sha256

from tests.client import Make
from tests.conftest import Instance
from tests.factories import make_project
from tests.git_history import History
from tests.graphql.conftest import Graphql

MEASURED = "{ queryComplexity { score limit } metadata { version revision } }"


def test_a_query_returns_its_complexity(graphql: Graphql, make: Make) -> None:
    for user, limit in ((make.root, 300), (make.user(), 250), (None, 200)):
        assert graphql.data(MEASURED, user)["queryComplexity"] == {"score": 6, "limit": limit}
    batch = graphql.send([{"query": MEASURED}, {"query": MEASURED}], make.root).json()
    assert [each["data"]["queryComplexity"]["score"] for each in batch] == [6, 6]


def test_issues_have_an_empty_hierarchy(graphql: Graphql, make: Make) -> None:
    owner = make.user()
    project = make_project(make, owner)
    make.api.post(f"{project.url}/issues", owner, title="one")
    query = """query($path: ID!) { project(fullPath: $path) { workItems { nodes { widgets(onlyTypes: [HIERARCHY]) {
        type ... on WorkItemWidgetHierarchy { parent { id } hasParent hasChildren
        children { count nodes { id } } ancestors { nodes { id } } } } } } } }"""
    (item,) = graphql.data(query, owner, path=project.path)["project"]["workItems"]["nodes"]
    assert item["widgets"] == [
        {
            "type": "HIERARCHY",
            "parent": None,
            "hasParent": False,
            "hasChildren": False,
            "children": {"count": 0, "nodes": []},
            "ancestors": {"nodes": []},
        }
    ]


def test_files_name_their_lfs_objects(graphql: Graphql, instance: Instance, make: Make) -> None:
    owner = make.user()
    project = make_project(make, owner)
    oid = sha256(b"large").hexdigest()
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize 123456789\n"
    history = History()
    history.commit("master", {"large.bin": pointer, "long.txt": "x" * 2000, "small.txt": "text"})
    history.fill(instance, project)
    query = """query($path: ID!) { project(fullPath: $path) { repository {
        tree { blobs { nodes { path lfsOid } } }
        blobs(paths: ["large.bin", "small.txt"]) { nodes {
        lfsOid size rawSize storedExternally externalStorage } } } } }"""
    repository = graphql.data(query, owner, path=project.path)["project"]["repository"]
    listed = {blob["path"]: blob["lfsOid"] for blob in repository["tree"]["blobs"]["nodes"]}
    assert listed == {"large.bin": oid, "long.txt": None, "small.txt": None}
    assert repository["blobs"]["nodes"] == [
        {
            "lfsOid": oid,
            "size": str(len(pointer)),
            "rawSize": "123456789",
            "storedExternally": True,
            "externalStorage": "lfs",
        },
        {"lfsOid": None, "size": "4", "rawSize": "4", "storedExternally": False, "externalStorage": None},
    ]
