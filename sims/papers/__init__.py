"""The papers' tables and figures, regenerated: one module per paper."""
