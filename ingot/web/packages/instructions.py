"""Commands that install a package."""

from urllib.parse import quote

from ingot.packages.records.views import PackageFileView, PackageView
from ingot.web.projects.context import ProjectContext


def install_commands(package: PackageView, parent: ProjectContext, files: list[PackageFileView]) -> str:
    """Return the commands or the configuration that install a package."""
    base = f"{parent.visit.request.origin.base}/api/v4/projects/{parent.project.id}/packages"
    name, version = package.name, package.version or ""
    if package.package_type == "pypi":
        return f"pip install {name}=={version} --index-url {base}/pypi/simple"
    if package.package_type == "npm":
        scope = f"{name.partition('/')[0]}:" if name.startswith("@") else ""
        return f"npm config set {scope}registry={base}/npm/\nnpm install {name}@{version}"
    if package.package_type == "maven":
        group, _, artifact = name.rpartition("/")
        return (
            f"<dependency>\n  <groupId>{group.replace('/', '.')}</groupId>\n  <artifactId>{artifact}</artifactId>\n"
            f"  <version>{version}</version>\n</dependency>\n\n"
            f"<repository>\n  <id>{parent.project.path}</id>\n  <url>{base}/maven</url>\n</repository>"
        )
    file = quote(files[0].file_name) if files else "FILE"
    return f'curl --header "PRIVATE-TOKEN: $TOKEN" --remote-name {base}/generic/{name}/{version}/{file}'
