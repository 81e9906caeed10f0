"""How fast Lightwell is, against whom: every line of the performance goals, measured beside the peers in one run.

Run it with `make bench`; `README.md` says how it measures and how to add a row or a peer.
"""
