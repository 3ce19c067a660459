"""Which published record can come from which original record."""
