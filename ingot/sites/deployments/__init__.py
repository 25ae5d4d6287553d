"""Deployments of static sites: versions of the files that a project publishes."""
