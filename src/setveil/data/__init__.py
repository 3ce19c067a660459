"""What is held: vocabularies, sets of records (transactions) and bags."""
