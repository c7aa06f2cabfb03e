"""Two small languages whose truth is known: English for BERT, pairs of English and Chinese for the translator."""
