// SPDX-License-Identifier: Apache-2.0

// Saves into a store until it is killed, and says what has been acknowledged:
//
//   StoreWriter FILE SEED            goes on until it is killed
//   StoreWriter FILE SEED LIMIT      goes on until files may not grow beyond LIMIT
//                                    bytes, and tells what is left: `full N`
//   StoreWriter FILE SEED --steps N  closes the store after N steps, and has the
//                                    log written into the file after every few
//
// It prints `open N STATE CHANGES` with the number of the last local save, a digest
// of the replica and the number of changes of the device ID; then `saved N STATE`
// after each save, `merged N STATE` after each delta that came, and `sent N STATE`
// after each that may have left.

import Foundation
import Rejoin
import RejoinFoundation
import RejoinSQL
import RejoinStore
import RejoinTesting

private struct Note: Entity {
  let saves = counter("saves")
  let tags = set("tags", of: String.self)
  let title = register("title", of: String.self)
}

private func say(_ line: String) {
  // In one write and past all buffers, so that a line is there or not.
  FileHandle.standardOutput.write(Data((line + "\n").utf8))
}

private struct Writer {
  let store: ReplicaStore
  let other: Replica
  var random: SeededRandom
  private let path: String
  /// Whether it copies the store now and then.
  var copies = true

  init(_ path: String, seed: UInt64) async throws {
    self.path = path
    random = SeededRandom(seed: seed)
    store = try await ReplicaStore(
      at: path, schema: [Note.self], wallClock: .system,
      makeDeviceID: DeviceID.random)
    other = Replica(
      device: .random(using: &random), schema: [Note.self], wallClock: .system,
      makeDeviceID: { fatalError("nobody else saves under it") })
    let changes = await store.deviceChange == nil ? 0 : 1
    try await acknowledge("open", " \(changes)")
  }

  /// Has the log written into the file often, and shortened when it begins anew;
  /// and the record that changes in each save so long that patches are kept of it.
  func keepBusy() async throws {
    _ = try await store.setting("wal_autocheckpoint = 30")
    _ = try await store.setting("journal_size_limit = 60000")
    try await save { transaction in
      for i in 0..<200 {
        transaction[Note.self, "own"].tags.insert("one of many tags, \(i)")
      }
    }
    try await acknowledge("saved")
  }

  /// Makes a save whose name in the undo history is its number.
  private func save(_ body: @Sendable (Transaction) -> Void) async throws {
    let number = await store.version[store.device].sequence + 1
    try await store.save(undoable: "\(number)") { transaction in
      transaction[Note.self, "own"].saves.increment(by: 1)
      body(transaction)
    }
  }

  mutating func step() async throws {
    switch random.next() % 8 {
    case 0 where copies && random.next() % 8 == 0: try await copy()
    case 0:
      _ = try await store.delta(since: ReplicaVersion())
      try await acknowledge("sent")
    case 1:
      try other.save { $0[Note.self, "other"].title = "\(random.next())" }
      if let delta = other.delta() { try await store.apply(delta) }
      try await acknowledge("merged")
    default:
      let n = random.next() % 20
      try await save { transaction in
        transaction[Note.self, "own"].tags.insert("\(n)")
        transaction[Note.self, "\(n)"].title = "\(n)"
      }
      try await acknowledge("saved")
    }
  }

  /// Copies the store while it is in use, and compares the copy.
  func copy() async throws {
    let path = self.path + ".copy"
    try? FileManager.default.removeItem(atPath: path)
    defer {
      for end in ["", ".token", "-wal", "-shm"] {
        try? FileManager.default.removeItem(atPath: path + end)
      }
    }
    try await store.backup(to: path)
    let copy = try await ReplicaStore(
      at: path, schema: [Note.self], wallClock: .system,
      makeDeviceID: DeviceID.random)
    let (copied, delta) = (
      await copy.read { $0.replica.delta() },
      await store.read { $0.replica.delta() }
    )
    guard copied == delta else {
      fatalError("the copy differs from the store")
    }
    try await copy.close()
  }

  func acknowledge(_ what: String, _ end: String = "") async throws {
    let (saves, number, bytes) = await store.read {
      (
        $0[Note.self, "own"]?.saves ?? 0, $0.version[$0.device].sequence,
        $0.replica.stored.encoded()
      )
    }
    guard saves == Int64(number) else { fatalError("\(saves) of \(number)") }
    let name = await store.undoName
    guard name == (number == 0 ? nil : "\(number)") else {
      fatalError("the undo history ends with \(name ?? "nothing")")
    }
    let digest = bytes.withUnsafeBytes { WireChecksum.of($0) }
    say("\(what) \(number) \(digest)\(end)")
  }
}

#if canImport(Glibc)
  private let fileSize = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
#else
  private let fileSize = RLIMIT_FSIZE
#endif

private let arguments = CommandLine.arguments
if arguments.count == 4, let limit = rlim_t(arguments[3]) {
  // What is written beyond it fails, and kills nobody.
  signal(SIGXFSZ, SIG_IGN)
  var limits = rlimit(rlim_cur: limit, rlim_max: limit)
  guard setrlimit(fileSize, &limits) == 0 else { fatalError("no limit") }
}

try await run()

/// A function, at whose end the store is closed.
private func run() async throws {
  var writer = try await Writer(arguments[1], seed: UInt64(arguments[2]) ?? 0)
  if arguments.count == 5, let steps = Int(arguments[4]) {
    writer.copies = false
    try await writer.keepBusy()
    for _ in 0..<steps { try await writer.step() }
    return
  }
  do {
    while true { try await writer.step() }
  } catch StoreError.notDurable { try await writer.acknowledge("full") }
}
