// SPDX-License-Identifier: Apache-2.0

/// The help texts of the command.
enum Help {
  /// The output of `rejoin --help`.
  static let overview = """
    rejoin: shows what happens to edits that devices make offline.

    usage: rejoin compare [FILE…] [OPTION…]
           rejoin replay FILE [--bytes] [--store FOLDER]
           rejoin simulate [OPTION…]
           rejoin inspect FILE [--format table|json]
           rejoin store FILE [--check]
           rejoin --help

      compare   runs strategies for merging on the same concurrent edits and
                counts what each strategy loses
      replay    runs a script of what devices did and prints what each device
                shows
      simulate  searches the library for faults and prints the shortest script
                that shows one
      inspect   prints the content of a delta, a snapshot, a record, a vector
                clock, a replica's version, a stored replica or a token
      store     prints what is in a store on SQLite, and checks it

    See `rejoin compare --help`, and likewise for the other commands.
    Exit codes: 0 success, 1 failure, 2 an error in the arguments or the script.

    """

  /// The output of `rejoin store --help`.
  static let store = """
    rejoin store: prints what is in a store on SQLite.

    usage: rejoin store FILE [--check]

    For each scope: its device, the records of each entity, and the last save of
    each device. Everything is read, so that a row which is not as it was written
    is found and named. A file in use can be read; it is never written.

    options:
      --check   have SQLite check every page and every index, too

    examples:
      rejoin store notes.sqlite
      rejoin store --check notes.sqlite

    """

  /// The output of `rejoin compare --help`.
  static let compare = """
    rejoin compare: compares what strategies lose on the same edits.

    usage: rejoin compare [FILE…] [OPTION…]

    In an episode, several devices start from the same record, edit it offline,
    and then all sync. Every strategy merges the same edits in the same order of
    arrival. An oracle, which knows only what each edit had seen, counts the
    losses:

      edits lost      neither shown nor in the record's conflict list, though no
                      later edit had seen them
      silently        those of which nobody is told
      disagree        episodes whose devices end with different records
      as people       changed fields that end as people resolved them, where a
                      file says so

    With --all, for every strategy, and what each of them does:

      lossless        episodes in which no edit was lost, if an edit wins over a
                      concurrent deletion, and if deletions win
      plain           of the episodes without deletions, clears and resets
      excess          register edits lost beyond the unavoidable: of several
                      concurrent values, only one can be shown
      only reported   register edits lost that an error or a report has told
      unrecoverable   register edits lost that nothing holds
      counter units   the sum of the errors of all counters
      adds lost       insertions lost although no removal had seen them
      removes undone  removals undone although they had seen every insertion
      records wrong   records that exist and should not, or the other way round

    Without FILE, the command prints worked examples, and then compares the
    strategies on generated episodes: calm, what an app meets daily, and hostile,
    a check of features and no rate of loss. A FILE holds one episode per line, in
    JSON.

    An episode (`kinds` lists the counters and sets, other fields are registers;
    `at` is in milliseconds of the device's clock; a `base` of null means that
    the record did not exist):

      {"id":"e1","base":{"name":"Ada","steps":5000,"tags":["a"]},
       "kinds":{"steps":"counter","tags":"set"},
       "edits":[{"device":"phone","at":1000,"increment":{"steps":1200}},
                {"device":"watch","at":2000,"set":{"name":"Ada L."},
                 "insert":{"tags":["b"]},"remove":{"tags":["a"]}}]}

    Or a line has three states of a record, which are compared field by field (of
    these, `id`, `kinds`, `resolution` and times in `at` may be left out; without
    times, theirs is the later):

      {"id":"e2","base":{"n":3},"mine":{"n":2},"theirs":{"n":2},
       "kinds":{"n":"counter"},"resolution":{"n":1},
       "at":{"mine":1000,"theirs":2000}}

    An edit may also `clear` fields, or delete the record (`"delete": true`). An
    episode may have the order in which devices reach the server (`arrival`),
    how people resolved the conflicts (`resolution`, `resolvedBy`), a `group`
    and a `source`. The whole episode must be on one line.

    options:
      --all                every strategy, and every count
      --git REPOSITORY PATH…
                           the merges of a repository: records of JSON and CSV
                           files that both sides had changed, and what people
                           made of them; uses the system's git
      --base A --mine B --theirs C
                           three versions of a file: CSV (with a header, and a
                           key in the first column), JSON (records by keys, or a
                           list of records with an "id"), or SQLite (the tables
                           with primary keys)
      --html FILE          write a page: bars, the timeline of an episode (the
                           one of --explain), and every count
      --explain ID         explain one episode: its edits, where they met, how each
                           strategy ends, and why
      --format FORMAT      table (the default), markdown, or json
      --strategies A,B,…   compare only these, by their names in the table
      --workload NAME      calm, busy, or hostile; and what differs from it:
      --seed N, --episodes N, --devices N, --edits N (of each), --fields N,
      --counters %, --sets % (of the fields), --deletions % (of the edits),
      --clears % (of the changes), --contention % (of the edits, which also
      change one field that is the same for all), --contact N (edits between
      hearing of each other; 0: not before the end), --skew MS (of the clocks)

    examples:
      rejoin compare
      rejoin compare --explain steps
      rejoin compare --workload busy --devices 5 --strategies fieldByTime,rejoin
      rejoin compare episodes.jsonl --format json
      rejoin compare --git . data/items.json --html report.html

    """

  /// The output of `rejoin replay --help`.
  static let replay = """
    rejoin replay: runs a script of what devices did.

    usage: rejoin replay FILE [--bytes] [--store FOLDER]

    A script has one JSON object per line. Blank lines and lines that start with
    # are skipped. The first line is the schema, and every other line is a step:

      save, delete, undelete   change records on the device `on`
      undo, redo               undo the last of these saves, or redo it
      sync, merge              bring the changes of the device `from` to `to`:
                               as a delta, or as the whole state
      delta, split, apply      keep a delta, cut it into parts, and apply it at
                               any later time; with `"bytes": N`, keep the first
                               part of a transfer that `delta` can go on with
      import, pull             import existing rows once, or pull rows of a
                               `server` repeatedly
      purge, fold              drop deleted records and fold ledgers, up to the
                               stability cut
      retire                   stop waiting for a device's acknowledgement
      fork                     copy a device's state to a new device
      backup, restore          keep a device's state, and put it back as a new
                               device; with `"unnoticed": true`, under the same
                               ID; with `"token": true`, as its token decides
      crash                    end a device's process and start it again, with
                               nothing but what is stored
      token                    store a device's token
      fetch, edit, refresh,    edit a record in a context under a merge policy
      commit, resolve
      show                     print what a device shows

    For example:

      {"entities":{"Item":{"fields":{"name":"register","qty":"counter"}}}}
      {"do":"save","on":"A","at":1000,"record":"Item/1","increment":{"qty":3}}
      {"do":"sync","from":"A","to":"B","at":1001}
      {"do":"show","on":"B"}

    Deltas, tokens and backups are encoded and decoded on the way. Faults that
    the library reports are printed as `{"error": …}`, and the script continues:
    a refused save; a device ID in use twice (equivocation, forked); saves under
    a device's ID that it does not know itself (doubtful); a retired device that
    is back (returned). With --bytes, `show` also prints a digest of the
    canonical bytes of the shared state, with ledgers folded: devices that have
    seen the same saves print the same digest.

    With --store, each device has a store of its own in FOLDER, an SQLite file
    that `rejoin store` shows. What a line changes is on the disk when it ends.
    The output is the same.

    An error in the script ends it with the number of the line and exit code 2.

    """

  /// The output of `rejoin simulate --help`.
  static let simulate = """
    rejoin simulate: searches the library for faults.

    usage: rejoin simulate [OPTION…]

    Two searches run in parallel. The explorer tries every interleaving of a few
    saves on three replicas with exchanges of messages that are delayed, split,
    duplicated and relayed, and with wrong clocks. The simulator runs many
    devices for weeks of simulated time, with failing networks, clocks and
    storage; everything follows from a seed. After every step, an oracle, which
    knows only which saves each device has seen, checks what the device shows.

    If a device shows something else, the script that led there is shrunk and
    printed for `rejoin replay`, and the exit code is 1. Otherwise the command
    prints how much was checked.

    options:
      --nightly      larger programs, and longer simulations of more devices
      --minutes M    start no program or simulation after that time
      --seeds N      the number of simulations (1000; 100000 with --nightly)
      --seed S       the seed of the first simulation (0)
      --report FILE  write the counts, the seeds and the time to a Markdown file

    examples:
      rejoin simulate
      rejoin simulate --seed 4711 --seeds 1
      rejoin simulate --nightly --minutes 30 --report nightly.md

    """

  /// The output of `rejoin inspect --help`.
  static let inspect = """
    rejoin inspect: prints the content of an encoded message.

    usage: rejoin inspect FILE [--format table|json]

    FILE holds the bytes of a delta, a snapshot, a vector
    clock, a replica's version, a stored replica or a token. The command prints
    the size of each section, the saves of each device, and every field of every
    record. For a damaged file, it prints the offset and what was expected
    there, and the exit code is 1.

    """
}
