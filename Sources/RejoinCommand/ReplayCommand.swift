// SPDX-License-Identifier: Apache-2.0

/// `rejoin replay` runs a script of the steps of devices.
struct ReplayCommand {
  static let command = Command(
    name: "replay",
    purpose: "run a script of what devices did, and print what they show",
    usage: "FILE [--bytes] [--store FOLDER]",
    discussion: """
      A script has one JSON object a line. Blank lines and lines that start with #
      are skipped. The first line is the schema, and every other line is a step.

      Deltas, tokens and backups are encoded and decoded on the way. A fault that
      the library reports is printed as {"error": …}, and the script continues: a
      refused save, a device ID in use twice (equivocation, forked), own saves that
      the device does not have (rollback), or a retired device that is back
      (reactivated). An error in the script ends it with the number of the line and
      exit code 2.
      """,
    sections: [
      .init(
        title: "OPTIONS",
        options: [
          .init(
            flag: "bytes",
            "show prints a digest of the canonical bytes of the shared state, "
              + "with ledgers folded, too; devices that have seen the same saves "
              + "print the same digest"),
          .init(
            "store", "FOLDER",
            "each device has a store of its own in the folder, an SQLite file "
              + "that `rejoin store` shows; the output does not change"),
        ]),
      .init(
        title: "STEPS",
        text: """
          save, delete, undelete   change records on the device "on"; "move" places
                                   a record by a field of the kind "position",
                                   between two records
          undo, redo               undo the last of these saves, or redo it
          sync, merge              bring the changes of the device "from" to "to"
                                   in a delta; with sync, each device also shows
                                   its version
          delta, split, apply      keep a delta, split it into parts, and apply it
                                   at any later time; with "bytes": N, keep the
                                   first part of a transfer, which another delta
                                   continues
          import, pull             import existing rows once, or pull rows of a
                                   "server" repeatedly; "at" of a pull is the
                                   server's time, and "now" that of the device
          purge, fold              drop deleted records and fold ledgers, up to
                                   the stability cut
          retire                   stop waiting for a device's acknowledgment
          fork                     copy a device's state to a new device
          backup, restore          keep a device's state, and put it back as a new
                                   device; with "unnoticed": true, under the same
                                   ID; with "token": true, as its token decides
          crash                    end a device's process and start it again with
                                   only what is stored
          token                    store a device's token
          fetch, edit, refresh,    edit a record in a context under a merge policy
          commit, resolve
          show                     print what a device shows
          """),
      .init(
        title: "A SCRIPT",
        text: """
          {"entities":{"Item":{"fields":{"name":"register","qty":"counter"}}}}
          {"do":"save","on":"A","at":1000,"record":"Item/1","increment":{"qty":3}}
          {"do":"sync","from":"A","to":"B","at":1001}
          {"do":"show","on":"B"}
          """),
    ],
    examples: ["replay script.jsonl", "replay --bytes - < script.jsonl"],
    run: { try ReplayCommand($0).run() })

  private let file: String
  private let showsBytes: Bool
  private let folder: String?

  /// Reads the arguments of `replay`.
  init(_ arguments: Arguments) throws(CommandError) {
    file = try arguments.file(of: "replay")
    showsBytes = arguments.has("bytes")
    folder = arguments.value("store")
  }

  /// Runs the script and prints its output.
  func run() throws(CommandError) {
    let text = try Files.readText(file)
    let stores: ScriptStores?
    do { stores = try folder.map(ScriptStores.init) } catch {
      throw .failed(error.description)
    }
    do {
      try Replay.run(text, showsBytes: showsBytes, in: stores) {
        Terminal.write($0 + "\n")
      }
    } catch {
      throw .usage("\(file): \(error)")
    }
  }
}
