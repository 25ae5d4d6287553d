"""Slash commands of chats: links between accounts and chat users, and the commands."""
