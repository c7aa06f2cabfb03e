"""Training: the course BERT (lesson 09)."""
