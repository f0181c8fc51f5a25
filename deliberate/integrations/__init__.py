"""Other people's tools: each in a file of its own that imports nothing heavy before it is used."""
