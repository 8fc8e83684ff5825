"""The operator's decisions, one question a file. Pure: no client, no clock."""
