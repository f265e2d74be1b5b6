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
    rejoin compare: compare sync strategies on the same offline edits

    USAGE: rejoin compare [FILE…] [OPTION…]

    In an episode, devices start from the same record, edit it while apart, and
    then all sync. Every strategy merges the same edits in the same order of
    arrival. An oracle counts what is lost. It knows only what each edit had
    seen.

    A field change is what one device changed in one field before it met the
    others. It is lost unless the final record, or its conflict list, shows all
    of it. Without FILE, the command compares generated episodes: calm, records
    that two devices edited while apart, and hostile, a check of features.

    OUTPUT:
      --all                every strategy, every count, and each rule's source
      --strategies A,B,…   only these strategies, by their names in the table
      --explain ID         the story of one episode: its edits, where they met,
                           how each strategy ends, and why
      --html FILE          a page with bars, the timeline of the episode in which
                           the strategies differ most, and all tables
      --format FORMAT      table (default), markdown, json (one document), or
                           jsonl (one object a line)

    YOUR DATA:
      --git REPOSITORY PATH…
                           the merges of a repository: records of JSON and CSV
                           files that both sides changed, and what people made
                           of them (uses the system's git)
      --base A --mine B --theirs C
                           three versions of a file: CSV (a header, and keys in
                           the first column), JSON (records by key, or a list of
                           records with an "id"), or SQLite (tables with primary
                           keys)
      --kinds F=KIND,…     kinds of fields: register, counter, or set; by default
                           arrays of different texts are sets, and other fields
                           are registers

    OTHER CONTENDERS:
      --contender COMMAND  a program that merges episodes; may be given several
                           times. It reads one episode a line. It writes a line
                           that introduces it, then one ending a line:
        {"name":"mine","version":"1.0","rule":"the last device wins"}
        {"id":"e1","record":{"name":"Ada"},"kept":{"name":["Eve"]}}
                           The record is null if it does not exist. "kept" lists
                           the contents of conflict lists, and is optional.
                           "records", by device, replaces "record" if the devices
                           end with different ones.
      --export FILE        the episodes, one a line
      --endings            the endings of one strategy, as a contender writes them

    GENERATED EPISODES:
      --workload NAME      calm, busy, or hostile; the options below change it
      --seed N             seed of the random numbers (0–2⁶⁴−1)
      --episodes N         number of episodes (1–100000)
      --devices N          number of devices (1–64)
      --edits N            edits of each device (0–1000)
      --fields N           fields of the record (1–1000)
      --counters %, --sets %
                           shares of the fields
      --deletions %        share of the edits that delete the record
      --clears %           share of the changes that clear a field
      --resets %           share of the changes of counters that set them
      --contention %       share of the edits that also change one field that is
                           the same for all
      --contact N          edits between two contacts, or 0 for none before the
                           end (0–1000)
      --skew MS            greatest error of a clock (milliseconds)
                           Shares are in percent and may have a fraction.

    FORMAT OF A FILE (one object a line):
      {"id":"e1","base":{"name":"Ada","steps":5000,"tags":["a"]},
       "kinds":{"steps":"counter","tags":"set"},
       "edits":[{"device":"phone","at":1000,"increment":{"steps":1200}},
                {"device":"watch","at":2000,"set":{"name":"Ada L."},
                 "insert":{"tags":["b"]},"remove":{"tags":["a"]}}]}

      The base is null if the record did not exist. "at" is the time on the
      device's clock in milliseconds. An edit may also "clear" a list of fields,
      or "delete" the record (true). Optional keys are the order in which devices
      reach the server ("arrival"), the record as people left it ("resolution",
      "resolvedBy"), a "group" and a "source". Groups other than "merge" do not
      count in totals.

      Or three states of a record, which are compared field by field. Without
      times, theirs is the later:

      {"id":"e2","base":{"n":3},"mine":{"n":2},"theirs":{"n":2},
       "kinds":{"n":"counter"},"resolution":{"n":1},
       "at":{"mine":1000,"theirs":2000}}

    EXAMPLES:
      rejoin compare
      rejoin compare --explain steps
      rejoin compare --workload busy --devices 5 --contention 3.9
      rejoin compare --git . data/items.json --kinds qty=counter
      rejoin compare episodes.jsonl --contender 'python3 peer.py'

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
