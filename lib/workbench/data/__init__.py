"""Inputs of the notebooks: real ones from packages, generated ones with the truth that was planted in them."""
