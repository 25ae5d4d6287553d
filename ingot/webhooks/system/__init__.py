"""System hooks: webhooks of the instance, managed by administrators."""
