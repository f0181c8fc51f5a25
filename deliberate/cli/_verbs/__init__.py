"""Every verb and its flags, by what it is about. What a verb does lies in a module of ``cli``, imported when called."""
