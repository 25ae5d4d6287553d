"""A second factor besides the password: codes of an app on a phone, and recovery codes for when that is lost."""
