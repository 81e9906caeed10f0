"""How fast Lightwell is beside its peers: `make bench` measures, `README.md` says how."""
