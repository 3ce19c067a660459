"""Hot loops: Numba functions over plain arrays that know no class of ours."""
