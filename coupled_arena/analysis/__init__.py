"""How judges behave and what coupling gains: pure functions, data frames in and out."""
