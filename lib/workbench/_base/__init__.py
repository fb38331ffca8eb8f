"""The ground that every package stands on. Private: no notebook, page or user's code imports it."""
