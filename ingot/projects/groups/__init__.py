"""Groups, the namespaces that users and groups own, and memberships in groups and projects."""
