"""What was released about which people: the register, its files, and what adds up."""
