"""A project of the CI/CD catalog, and one that uses its component."""

from typing import TYPE_CHECKING

from tests.ci.pipelines.files import commit_files
from tests.factories import make_project

if TYPE_CHECKING:
    from tests.sample_data.records import SampleData


def fill_catalog(samples: "SampleData") -> None:
    """Publish a component, and use it."""
    make, owner = samples.make, samples.owner
    tools, user = make_project(make, owner, description="Tools"), make_project(make, owner)
    commit_files(
        make, tools, {"README.md": "# Tools", "templates/deploy.yml": "deploy: {script: [make]}\n"}, user=owner
    )
    samples.catalog = tools
    samples.post(f"{tools.url}/catalog")
    samples.post(f"{tools.url}/releases", tag_name="1.0.0", ref="main")
    samples.post(f"{tools.url}/catalog/publish", version="1.0.0")
    text = f"include: [{{component: '$CI_SERVER_FQDN/{tools.path}/deploy@1'}}]\n"
    commit_files(make, user, {".gitlab-ci.yml": text}, user=owner)
