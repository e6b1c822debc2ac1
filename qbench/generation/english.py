"""English as a language of generation: see `qbench.generation.languages.GenerationPackage`."""

from qbench.generation.surfaces import plain_forms, unit_forms, usual, usual_forms, value_forms

__all__ = ["DOUBTS", "GATE", "TEMPLATES", "plain_forms", "unit_forms", "usual", "usual_forms", "value_forms"]

TEMPLATES = "templates/queries.toml"

DOUBTS = "qbench.generation.evidence:doubts"

GATE = "qbench.generation.gate:Gate"
