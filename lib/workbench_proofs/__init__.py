"""Proofs: races of two writers, the TPC-DS derived benchmark, kills of a stream and of a queue's functions."""
