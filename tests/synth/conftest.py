"""Small tables and the shared parts of the synth tests. All names and figures are made up."""

import pytest

from qbench.quantities.units import load_units
from qbench.resources import resource
from qbench.synth.sentences import Grammar

LAPTOPS = (
    "Maker,Model,Type,Weight,Price_euros,Memory\n"
    "Norvik,Velora 14,Ultrabook,1.25kg,1299.50,256GB SSD\n"
    'Norvik,"Tarnic, large",Gaming,3.1kg,2100,512GB SSD\n'
    "Tesslin,Quillon,Ultrabook,NULL,990,1TB HDD\n"
    "Tesslin,Ormade <script>,Gaming,2.75 kg,,128GB SSD +  1TB HDD\n"
    "Tesslin,Oskina,,2.4kg,1500,none\n"
)

MAPPING = """
name = "Model"
category = "Type"
qualifier = "Maker"
noun = "laptop"

[categories]
Gaming = ["gaming laptop", "laptop for gamers"]

[attributes]
Weight = { synonyms = ["mass"], unit = "kilogram", verbs = ["weighs {}"] }
Price_euros = { name = "price", unit = "euro", verbs = ["costs {}"] }
Memory = { name = "storage", unit = "gigabyte", uncountable = true }
"""


@pytest.fixture(scope="session")
def units():
    return load_units()


@pytest.fixture(scope="session")
def grammar():
    return Grammar.load(resource("templates/sentences.toml"))


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "laptops.csv"
    path.write_text(LAPTOPS, encoding="utf-8")
    return path


@pytest.fixture
def mapping(tmp_path):
    path = tmp_path / "laptops.toml"
    path.write_text(MAPPING, encoding="utf-8")
    return path
