"""Public fakes for tests: an endpoint on loopback that answers, and fails, as told, and judges that degrade a panel.

Everything here runs without a network and without a key. The fake judge itself is a provider, ``scripted``.
"""
