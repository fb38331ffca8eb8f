"""A notebook run headless: its parameters, its execution, its record and its report."""
