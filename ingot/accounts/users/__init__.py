"""User accounts: profiles, states, followers, statuses and custom attributes."""
