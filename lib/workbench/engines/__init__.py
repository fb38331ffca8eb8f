"""Engines: profiles of Sparks and other readers, their kernels, and how they are installed."""
