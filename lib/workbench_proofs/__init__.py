"""Proofs: races of writers, the TPC-DS derived benchmark, formats compared, kills of streams and of functions."""
