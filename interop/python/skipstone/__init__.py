"""A client of the Skipstone protocol, version 1, plain suite, written only from WIRE.md and its golden datagrams."""
