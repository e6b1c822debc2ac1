"""The learned binding of numbers to what they measure: which words of a sentence name the concept of a mention."""
