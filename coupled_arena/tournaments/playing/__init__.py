"""One execution of a definition: questions, rounds, battles, committees."""
