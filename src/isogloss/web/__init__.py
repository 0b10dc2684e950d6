"""The local page: probe a model, run studies, browse runs, check data; served to this machine alone by default."""
