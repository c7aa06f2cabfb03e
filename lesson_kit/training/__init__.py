"""Training: the course BERT (lesson 13)."""
