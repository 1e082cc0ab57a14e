"""The world's laws, checked on a log alone, without the simulator."""
