"""Implements `kith`: the library, devices, indices and searches."""
