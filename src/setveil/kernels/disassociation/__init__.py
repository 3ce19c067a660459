"""Hot loops of disassociation: one file per phase, and the steps that phases share."""
