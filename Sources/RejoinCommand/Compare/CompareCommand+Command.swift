// SPDX-License-Identifier: Apache-2.0

extension CompareCommand {
  static let command = Command(
    name: "compare",
    purpose: "compare sync strategies on the same offline edits",
    usage: "[FILE…] [OPTION…]",
    discussion: """
      In an episode, devices start from the same record, edit it while apart, and
      then all sync. Every strategy merges the same edits in the same order of
      arrival. An oracle, which knows only what each edit had seen, counts what is
      lost.

      A field change is what one device changed in one field before it met the
      others. It is lost unless the final record, or its conflict list, shows all
      of it. Without FILE, the command compares generated episodes: "calm" has
      records that two devices edited while apart, and "hostile" checks features.
      With --contender, there is also "reported", with faults that users of sync
      systems reported: equal times, insertions after deletions, and edits that
      arrive again. Tables and Markdown end with the smallest episodes in which the
      contender's devices disagree, or in which no rule for deletions explains a
      loss.
      """,
    sections: [
      output, ownData, otherContenders, generatedEpisodes, contenderFormat,
      fileFormat,
    ],
    examples: [
      "compare",
      "compare --explain steps",
      "compare --workload busy --devices 5 --contention 3.9",
      "compare --git . data/items.json --kinds qty=counter",
      "compare episodes.jsonl --contender 'python3 peer.py'",
    ],
    run: { try CompareCommand($0).run() })

  private static let output = Command.Section(
    title: "OUTPUT",
    options: [
      .init(
        flag: "all",
        "every strategy, every count, each rule's source, and the results of "
          + "other seeds"),
      .init(
        "strategies", "A,B,…",
        "only these strategies, by their names in the table"),
      .init(
        "explain", "ID",
        "the story of one episode: its edits, where they met, how each strategy "
          + "ends, and why"),
      .init(
        "html", "FILE",
        "a page with bars, the timeline of the episode in which the strategies "
          + "differ most, and all tables"),
      .init(
        "format", "FORMAT",
        "table (default), markdown, json (one document), or jsonl (one object "
          + "a line)"),
    ])

  private static let ownData = Command.Section(
    title: "YOUR DATA",
    options: [
      .init(
        ["git"], synopsis: "--git REPOSITORY PATH…",
        "the merges of a repository: records of JSON and CSV files that both "
          + "sides changed, and the results (uses the system's git)"),
      .init(
        ["base", "mine", "theirs"], synopsis: "--base A --mine B --theirs C",
        "three versions of a file: CSV (a header, and keys in the first "
          + "column), JSON (records by key, or a list of records with an "
          + "\"id\"), or SQLite (tables with primary keys)"),
      .init(
        "kinds", "F=KIND,…",
        "kinds of fields: register, counter, or set; by default, arrays of "
          + "different texts are sets, and other fields are registers"),
    ])

  private static let otherContenders = Command.Section(
    title: "OTHER CONTENDERS",
    options: [
      .init(
        "contender", "COMMAND",
        "a program that merges episodes; may be given several times",
        isRepeatable: true),
      .init("export", "FILE", "the episodes, one a line"),
      .init(
        flag: "endings",
        "the endings of one strategy, as a contender writes them"),
    ])

  /// The options that change the generated episodes.
  static let generatedEpisodes = Command.Section(
    title: "GENERATED EPISODES",
    options: [
      .init(
        "workload", "NAME",
        "calm, busy, hostile, or reported; the options below change it"),
      .init("seed", "N", "seed of the random numbers (0–2⁶⁴−1)"),
      .init(
        "episodes", "N",
        "number of episodes (1–100000), by default 1000, or 100 in a table "
          + "without --all"),
      .init("devices", "N", "number of devices (1–64)"),
      .init("edits", "N", "edits of each device (0–1000)"),
      .init("fields", "N", "fields of the record (1–1000)"),
      .init(
        ["counters", "sets"], synopsis: "--counters %, --sets %",
        "shares of the fields"),
      .init("deletions", "%", "share of the edits that delete the record"),
      .init("clears", "%", "share of the changes that clear a field"),
      .init("resets", "%", "share of the changes of counters that set them"),
      .init(
        "contention", "%",
        "share of the edits that also change one field, the same on every "
          + "device"),
      .init(
        "contact", "N",
        "edits between two contacts, or 0 for none before the end (0–1000)"),
      .init("skew", "MS", "greatest error of a clock (milliseconds)"),
      .init("tick", "MS", "step of the clocks (milliseconds)"),
      .init(
        "deleted", "%",
        "share of the records that a device deleted before, as all know"),
      .init("repeats", "%", "share of the devices that send their edits again"),
    ],
    text: "Shares are in percent and may have a fraction.")

  private static let contenderFormat = Command.Section(
    title: "FORMAT OF A CONTENDER",
    text: """
      A contender reads one episode a line. It writes a line that introduces it,
      and then one ending a line:

      {"name":"mine","version":"1.0","rule":"the last device wins"}
      {"id":"e1","record":{"name":"Ada"},"kept":{"name":["Eve"]}}

      The record is null if it does not exist. "kept" lists the contents of
      conflict lists (null for an unset field), and is optional. "records", by
      device, replaces "record" if the devices end with different ones.
      """)

  private static let fileFormat = Command.Section(
    title: "FORMAT OF A FILE",
    text: """
      A file has one object a line (wrapped here for reading):

      {"id":"e1","base":{"name":"Ada","steps":5000,"tags":["a"]},
       "kinds":{"steps":"counter","tags":"set"},
       "edits":[{"device":"phone","at":1000,"increment":{"steps":1200}},
                {"device":"watch","at":2000,"set":{"name":"Ada L."},
                 "insert":{"tags":["b"]},"remove":{"tags":["a"]}}]}

      The base is null if the record did not exist. "at" is the time on the
      device's clock in milliseconds. An edit may also "clear" a list of fields,
      or "delete" the record (true). Optional keys are the order in which devices
      reach the server ("arrival", where a device that is there again sends its
      edits again), the record that people chose ("resolution", "resolvedBy"), a
      "group" and a "source". Groups other than "merge" do not count in totals.
      "earlier" can list the edits that led to the base, from no record on. Every
      device has received them.

      A line can instead have three states of a record, which are compared field
      by field. Without times, theirs is the later:

      {"id":"e2","base":{"n":3},"mine":{"n":2},"theirs":{"n":2},
       "kinds":{"n":"counter"},"resolution":{"n":1},
       "at":{"mine":1000,"theirs":2000}}
      """)
}
