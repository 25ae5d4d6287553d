"""Settings of approvals: rules of projects and merge requests, and further requirements of projects."""
