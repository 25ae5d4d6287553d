"""Private, personal access and impersonation tokens: from a credential to an actor."""
