"""Credentials of the clients of packages, and the projects and groups that they give access to."""
