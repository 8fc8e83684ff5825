"""The rules that decisions use, one subject a file. They are pure: they use no client and no clock."""
