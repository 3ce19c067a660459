"""Query logs: from rows of users, texts and times to bags of terms."""
