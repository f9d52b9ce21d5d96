"""The confusion report: what is misread, how often, how harmful, and what to do next."""
