"""Tokens by which others start pipelines of a project; they will, once there are pipelines."""
