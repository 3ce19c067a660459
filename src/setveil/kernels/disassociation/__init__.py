"""Hot loops of disassociation: a file for each phase, and for the steps that phases share."""
