"""Proofs: races of writers, TPC-DS and TPC-H, formats compared, edited sheets, kills of streams and functions."""
