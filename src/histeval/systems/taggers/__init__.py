"""Taggers of nested entities that anyone can train: a feature CRF, a small network, both together, transformers."""

from histeval.systems.taggers.system import TaggerSystem, open_system
from histeval.systems.taggers.tagger import Tagger, load_tagger
from histeval.systems.taggers.train import Trained, default_system, train, train_directories

__all__ = [
    "Tagger",
    "TaggerSystem",
    "Trained",
    "default_system",
    "load_tagger",
    "open_system",
    "train",
    "train_directories",
]
