"""The world's laws, checked on a log alone: replayed without the simulator."""
