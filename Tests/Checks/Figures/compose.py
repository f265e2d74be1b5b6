"""Composes sentences and tables from the JSON of `rejoin compare`, for Tests/Checks/Figures/run."""
import json
import sys


def share(losses, part="lost", whole="changes"):
    return f"{losses[part]:,} ({losses[part] / losses[whole]:.1%})"


def by_name(comparison):
    return {strategy["name"]: strategy for strategy in comparison["strategies"]}


def side_by_side(document):
    """Calm and hostile episodes in one table, with a row for strategies that end alike."""
    calm, hostile = document["comparisons"]
    rows = {}
    for strategy in calm["strategies"]:
        name = strategy["name"]
        cells = tuple(
            share(by_name(comparison)[name]["losses"]) for comparison in (calm, hostile))
        rows.setdefault(cells, []).append(f"`{name}`")
    totals = [c["strategies"][0]["losses"]["changes"] for c in (calm, hostile)]
    yield (f"| Strategy | *calm*: changes lost of {totals[0]:,} "
           f"| *hostile*, a check of features and not a rate: lost of {totals[1]:,} |")
    yield "|---|--:|--:|"
    for cells, names in rows.items():
        yield f"| {', '.join(names)} | {' | '.join(cells)} |"


def weights(document):
    """The share of records with a loss, over all records and over repositories."""
    strategies = by_name(document["comparisons"][0])
    words = []
    for name in ("recordByServerTime", "changedKeys"):
        losses = strategies[name]["losses"]
        figures = strategies[name]["intervals"]["lossyRecords"]
        words.append(
            f"`{name}` loses something in {losses['withLoss'] / losses['episodes']:.1%} of all "
            f"records, and in {figures['meanOfRepositories']:.1%} if every repository counts "
            "the same")
    yield "; ".join(words).replace("; ", ". ") + "."


def ties(document):
    """How a careful handler compares on records that people resolved."""
    strategies = by_name(document["comparisons"][0])

    def shares(part):
        words = []
        for name in ("rejoin", "handler.threeWay", "changedKeys"):
            people = strategies[name]["asPeople"][part]
            words.append(f"{people['equalFields'] / people['fields']:.1%} for `{name}`")
        return f"{', '.join(words[:-1])} and {words[-1]}"

    fields = strategies["rejoin"]["asPeople"]["all"]["fields"]
    gap = strategies["changedKeys"]["asPeopleMinusRejoin"]
    yield (f"Of {fields:,} changed fields, the share that ends as people left it is "
           f"{shares('all')}. The difference of `changedKeys` is {gap['low'] * 100:+.1f} to "
           f"{gap['high'] * 100:+.1f} points (95%). If a person merged by hand, the shares are "
           f"{shares('byHand')}.")
    kept = {name: strategies[name]["losses"]["kept"] for name in ("rejoin", "handler.threeWay")}
    assert len(set(kept.values())) == 1, kept
    yield (f"Only the conflict list shows {share(strategies['rejoin']['losses'], 'kept')} of the "
           "changes, with Rejoin and with the handler. They count as not lost, and a user must "
           "still look at them.")


for line in {"side-by-side": side_by_side, "weights": weights, "ties": ties}[sys.argv[1]](
        json.load(sys.stdin)):
    print(line)
