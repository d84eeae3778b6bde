"""The library, devices, indices and searches: what `kith` is made of."""
