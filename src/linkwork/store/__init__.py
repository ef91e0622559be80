"""Things on disk: files of blocks with digests, and objects as plain data. Knows no mechanics, runs no code of a file."""
