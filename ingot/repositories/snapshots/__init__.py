"""Location of repositories, and snapshots of them for administrators."""
