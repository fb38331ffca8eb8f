"""Stand-ins that run on this machine, on loopback only, in the place of a service."""
