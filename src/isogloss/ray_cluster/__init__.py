"""The same cells on a Ray cluster: attached as the executor `ray`."""
