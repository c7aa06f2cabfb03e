"""Training: the course BERT (lesson 09) and the translator (lesson 14)."""
