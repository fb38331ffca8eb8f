"""Tables shared by a policy, served to people who do not hold the keys of the storage."""
