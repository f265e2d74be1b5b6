// SPDX-License-Identifier: Apache-2.0

/// What the command says about itself.
enum Help {
  /// The answer to `rejoin --help`.
  static let overview = """
    rejoin: what happens to edits that devices made offline.

    usage: rejoin compare [FILE…] [OPTION…]
           rejoin replay FILE [--bytes]
           rejoin simulate [OPTION…]
           rejoin inspect FILE [--format table|json]
           rejoin --help

      compare   runs the same concurrent edits under many strategies and counts
                what each of them loses
      replay    runs a script of what devices did and prints what each of them
                sees
      simulate  looks for a fault in the library itself, and prints the shortest
                script that shows one
      inspect   tells what a delta, a snapshot, a record, a clock or a stored
                replica holds

    `rejoin compare --help` and its like say more.
    Exit codes: 0 done, 1 failed, 2 called wrongly.

    """

  /// The answer to `rejoin compare --help`.
  static let compare = """
    rejoin compare: what every strategy loses on the same edits.

    usage: rejoin compare [FILE…] [OPTION…]

    An episode: some devices start from the same record, edit it without hearing
    of each other, and then everybody syncs. Every strategy gets the same edits in
    the same order of arrival. An oracle that knows only who had been shown what
    counts what was lost:

      lossless        episodes in which nothing was lost
      excess          register edits lost beyond those that must be: of several
                      concurrent values only one can be shown
      unrecoverable   register edits lost that no conflict list or report holds
      counter units   units by which counters are wrong
      adds lost       insertions into sets that are gone
      removes undone  removals from sets that did not last
      records wrong   records that are there and should not be, or the reverse
      never agree     episodes whose devices end with different records

    Without FILE: a few worked examples, each with what every strategy ends with,
    then generated episodes. A FILE has one episode a line, in JSON; where it says
    how people settled a record, the table adds the share of changed fields, and
    of whole records, that ended as they decided.

    An episode (`kinds` names counters and sets, the rest are registers; `at` is
    milliseconds on the device's clock; null for `base` is no record yet):

      {"id":"e1","base":{"name":"Ada","steps":5000,"tags":["a"]},
       "kinds":{"steps":"counter","tags":"set"},
       "edits":[{"device":"phone","at":1000,"increment":{"steps":1200}},
                {"device":"watch","at":2000,"set":{"name":"Ada L."},
                 "insert":{"tags":["b"]},"remove":{"tags":["a"]}}]}

    It may also `clear` fields, `"delete": true`, and say in which order devices
    reach the server (`arrival`) and how people settled it (`resolution`,
    `resolvedBy`). The whole episode stands on one line.

    options:
      --explain ID         one episode: the edits, what each strategy kept, and why
      --format FORMAT      table (the default), markdown, or json
      --strategies A,B,…   only these, by their names in the table
      --seed N             seed of the generated episodes (1)
      --episodes N         how many are generated (1000)
      --devices N          devices in each (3)
      --skew MS            how far a device's clock may be off, either way (60000)

    examples:
      rejoin compare
      rejoin compare --explain steps
      rejoin compare --devices 5 --skew 3600000 --strategies fieldByTime,rejoin
      rejoin compare episodes.jsonl --format json

    """

  /// The answer to `rejoin replay --help`.
  static let replay = """
    rejoin replay: runs a script of what devices did.

    usage: rejoin replay FILE [--bytes]

    A script has one JSON object a line; blank lines and lines that start with #
    are skipped. The first line is the schema, and each other line is a step:

      save, delete, undelete   records of the device that `on` names
      sync, merge              `from` one device `to` another
      delta, split, apply      a delta that is kept, cut, and applied at any time
      alias                    two `records` that turn out to be one
      import, pull             rows of a database, or again and again of a `server`
      purge, fold, retire      what is forgotten, and who is not waited for
      fork, backup, restore    copies of a device's state; with `"token": true` it
      token                    is opened with the token that was stored last
      fetch, edit, refresh,    an editing context under a merge policy
      commit, resolve
      show                     prints what a device sees

    For example:

      {"entities":{"Item":{"fields":{"name":"register","qty":"counter"}}}}
      {"do":"save","on":"A","at":1000,"record":"Item/1","increment":{"qty":3}}
      {"do":"sync","from":"A","to":"B","at":1001}
      {"do":"show","on":"B"}

    Deltas, tokens and backups pass through bytes on the way. What goes wrong in the
    library's own terms is printed as `{"error": …}`: a save that is refused, a
    device ID that is in use twice (equivocation, forked), saves of our own that
    may be another incarnation's (doubtful), a retired device that is back
    (returned). With --bytes, `show` also prints a digest of the bytes of what the
    device shares, ledgers folded: devices that know the same print the same.

    A mistake in the script ends it with its line's number and exit code 2.

    """

  /// The answer to `rejoin simulate --help`.
  static let simulate = """
    rejoin simulate: looks for a fault in the library.

    usage: rejoin simulate [OPTION…]

    Two searches run side by side. The explorer goes through every interleaving
    of a few saves on three replicas: exchanges, messages kept back, halved,
    doubled and passed on, and clocks. The simulator lets many devices work for
    weeks, with networks, clocks and storages that fail, as a seed determines.
    After every step an oracle that knows only who has heard of which save says
    what each device must show.

    If a device shows something else, the script that led there is cut down and
    printed for `rejoin replay`, and the exit code is 1. Without a fault, the
    counts are printed.

    options:
      --nightly      larger programs, and longer simulations of more devices
      --minutes M    begin nothing new after that time
      --seeds N      how many simulations (1000; 100000 with --nightly)
      --seed S       the seed of the first (0)
      --report FILE  write the counts, the seeds and the time as Markdown

    examples:
      rejoin simulate
      rejoin simulate --seed 4711 --seeds 1
      rejoin simulate --nightly --minutes 30 --report nightly.md

    """

  /// The answer to `rejoin inspect --help`.
  static let inspect = """
    rejoin inspect: what a message holds.

    usage: rejoin inspect FILE [--format table|json]

    FILE has the bytes of a delta, a snapshot, a single record, a clock or a stored
    replica. The command prints how many bytes each part takes, what is said of
    each device, and every field of every record. Of a damaged file it tells the
    place and the fault, and ends with exit code 1.

    """
}
