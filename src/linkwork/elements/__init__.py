"""What a law is: ports, derivation, sets of nodes."""
