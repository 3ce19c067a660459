"""Where data is read from: files, standard input and streams, plain or compressed."""
