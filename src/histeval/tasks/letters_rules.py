"""Letters: the fields of the published benchmark and the scoring rules, each with its value in every protocol."""

from __future__ import annotations

from histeval.tasks.base import Rule
from histeval.tasks.description import Field
from histeval.tasks.reading import READING

HEADLINE = ("headline",)
"""The value of the rule `fields` that stands for the headline fields of the dataset's description."""

PUBLISHED_FIELDS = (
    Field("letter_title", "text", title="Title"),
    Field("send_date", "date", headline=True, title="Date"),
    Field("sender_persons", "person", "persons", headline=True, title="Senders"),
    Field("receiver_persons", "person", "persons", headline=True, title="Receivers"),
)
OPTIONAL_FIELDS = (
    Field("sender_persons_inscribed", "person", title="Senders as inscribed"),
    Field("receiver_persons_inscribed", "person", title="Receivers as inscribed"),
    Field("sender_organization", "organisation", "organizations", title="Sending organisation"),
    Field("sender_organization_inscribed", "organisation", title="Sending organisation as inscribed"),
    Field("receiver_organization", "organisation", "organizations", title="Receiving organisation"),
    Field("receiver_organization_inscribed", "organisation", title="Receiving organisation as inscribed"),
    Field("mentioned_persons", "person", "persons", title="Persons mentioned"),
    Field("mentioned_persons_inscribed", "person", title="Persons mentioned, as inscribed"),
    Field("mentioned_places", "place", "places", title="Places mentioned"),
    Field("mentioned_places_inscribed", "place", title="Places mentioned, as inscribed"),
    Field("mentioned_organizations", "organisation", "organizations", title="Organisations mentioned"),
    Field("mentioned_organizations_inscribed", "organisation", title="Organisations mentioned, as inscribed"),
    Field("mentioned_ships", "list", "ships", title="Ships mentioned"),
    Field("mentioned_ships_inscribed", "list", title="Ships mentioned, as inscribed"),
)
"""Fields that the documentation names as further ones. A reader adds those that a ground truth records."""

RULES = (
    Rule("inferred_from_function", "switch", False, False, False, help="ask for persons inferred from their function"),
    Rule(
        "inferred_from_correspondence",
        "switch",
        False,
        False,
        False,
        help="ask for persons inferred from the correspondence",
    ),
    Rule("skip_signatures", "switch", False, False, False, help="leave out signed letters"),
    Rule("skip_non_signatures", "switch", False, False, False, help="leave out unsigned letters"),
    Rule(
        "failed_answers",
        "choice",
        "missed",
        "missed",
        "missed",
        choices=("missed", "left_out"),
        help="a failed answer misses everything, or is left out of the sums",
    ),
    Rule(
        "empty_names",
        "choice",
        "drop",
        "drop",
        "drop",
        choices=("drop", "count"),
        help='names given as "" or "None": dropped, or counted as wrong names (as before 2025-04-15)',
    ),
    Rule("rounding", "number", None, 2, None, choices=("none",), help="decimals of the two headline values"),
    Rule(
        "dates",
        "choice",
        "text",
        "text",
        "value",
        choices=("text", "value"),
        help="dates compared as text, or as the day they say",
    ),
    Rule(
        "names",
        "choice",
        "alias",
        "alias",
        "profile",
        choices=("alias", "profile"),
        help="names compared literally within letter and role, or folded over the whole authority list",
    ),
    Rule(
        "inferred_hit",
        "choice",
        "fp",
        "fp",
        "neutral",
        choices=("fp", "neutral"),
        help="naming the right person where the ground truth only infers it: wrong, or neither right nor wrong",
    ),
    Rule(
        "zero_division",
        "choice",
        "0",
        "0",
        "missing",
        choices=("0", "missing"),
        help="the value of 0/0; with `missing` a field that never occurs leaves the macro mean",
    ),
    Rule("fields", "names", HEADLINE, HEADLINE, HEADLINE, help="fields that the headline covers: a+b+c, or headline"),
    READING,
)
