"""A store and its runs: tables, reading, writing, checking, exporting."""
