"""Readers of the field's formats: availability traces and workloads, plain or compressed."""
