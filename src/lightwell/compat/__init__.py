"""The doors through which unmodified old programs come in. See README.md in this folder."""
