"""Static sites that CI jobs publish, which GitLab calls Pages: files, deployments, custom domains and their server."""
