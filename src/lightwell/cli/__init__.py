"""The `lightwell` command. Every sub-command is parse, call, print; no logic of the library lives here."""
