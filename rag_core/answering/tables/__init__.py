"""Tables in passages: where their cells stand, what stands above and beside each, and which one a question asks for."""
