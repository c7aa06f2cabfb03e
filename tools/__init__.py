"""What keeps the course: its public address, the measures of the shipped models, the README's picture."""
