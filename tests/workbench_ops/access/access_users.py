"""Users of the page in tests."""

PASSWORDS = {"ann": "correct horse battery", "bob": "staple of another kind"}
