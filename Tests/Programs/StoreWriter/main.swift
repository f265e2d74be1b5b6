// SPDX-License-Identifier: Apache-2.0

// Saves into a store until it is killed, and prints acknowledgements:
//
//   StoreWriter FILE SEED            runs until it is killed
//   StoreWriter FILE SEED LIMIT      runs until files would exceed LIMIT bytes, and
//                                    prints `full N`
//   StoreWriter FILE SEED --steps N  closes the store after N steps, and copies
//                                    the log into the file after every few steps.
//                                    It also puts objects into the folder, and
//                                    prints `put NAME`
//   StoreWriter FILE SEED --copies   copies the store into FILE.copy-1, FILE.copy-2
//                                    and so on, and prints `copied I`
//   StoreWriter FILE SEED --pairs    saves the same number in two records, and prints
//                                    `saved N`
//   StoreWriter FILE SEED --reading WHO
//                                    opens a store that cannot be written, by
//                                    `nobody`, or by a `limited` process
//   StoreWriter FILE DEVICE --words N
//                                    adds N words, and prints each after its save
//   StoreWriter FILE DEVICE --show   prints the words, and a digest of all records
//
// It prints `open N STATE CHANGES` with the number of the last local save, a
// digest of the replica and the number of changes of the device ID. Then it
// prints `saved N STATE` after each save, `merged N STATE` after each received
// delta, and `sent N STATE` after each delta that may be sent. Every fourth
// process cannot write when it opens the store. It prints `claimed N STATE
// CHANGES` after the first change.

import RejoinSQL
import RejoinStore
import RejoinSync
import RejoinTesting
import _RejoinVerification

private struct Note: Entity {
  let saves = counter("saves")
  let tags = set("tags", of: String.self)
  let title = register("title", of: String.self)
}

func say(_ line: String) {
  // One write past all buffers prints a whole line or none.
  FileHandle.standardOutput.write(Data((line + "\n").utf8))
}

private struct Writer {
  let store: ReplicaStore
  let other: Replica
  var random: SeededRandom
  private let path: String
  /// Whether it sometimes copies the store and deletes a scope.
  var hasOtherSteps = true
  /// Whether it opens and compares each copy.
  var comparesCopies = true

  init(_ path: String, seed: UInt64) async throws {
    self.path = path
    random = SeededRandom(seed: seed)
    let limit =
      seed % 4 == 3 && FileManager.default.fileExists(atPath: path)
      ? limitFiles(of: path) : nil
    do {
      store = try await Writer.open(path)
    } catch  where limit != nil {
      // An incomplete store cannot be read, nor can a log without its index.
      if let limit { _ = limitFiles(to: limit) }
      store = try await Writer.open(path)
    }
    other = Replica(
      device: .random(using: &random), schema: [Note.self], wallClock: .system,
      makeDeviceID: { fatalError("nobody else saves under it") })
    let changes = await store.deviceChange == nil ? 0 : 1
    try await acknowledge("open", " \(changes)")
    if let limit { _ = limitFiles(to: limit) }
    if await store.writeError == nil { return }
    try await store.withReplica { _ in }
    guard await store.writeError == nil else {
      fatalError("a change succeeded, and its store cannot write")
    }
    try await acknowledge(
      "claimed", await store.deviceChange == nil ? " 0" : " 1")
  }

  private static func open(_ path: String) async throws -> ReplicaStore {
    try await ReplicaStore(
      at: path, schema: [Note.self],
      tables: [NotesTable.declared(\Note.title, \Note.saves)])
  }

  /// Makes SQLite copy the log into the file often and truncate it.
  ///
  /// Also makes the record of each save so long that the store writes patches.
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
    case 0 where hasOtherSteps && random.next() % 8 == 0:
      if comparesCopies { try await copy() } else { try await copyOnly() }
    case 7 where hasOtherSteps && random.next() % 4 == 0:
      try await deleteScope()
    case 0:
      _ = try await store.delta(since: ReplicaVersion())
      try await acknowledge("sent")
    case 1:
      try other.save { $0[Note.self, "other"].title = "\(random.next())" }
      if let delta = other.delta() { try await store.apply(delta) }
      try await acknowledge("merged")
    default:
      let n = random.next() % 20
      if n == 7 {
        try await store.suspend()
        try await store.resume()
      }
      try await save { transaction in
        transaction[Note.self, "own"].tags.insert("\(n)")
        transaction[Note.self, "\(n)"].title = "\(n)"
      }
      try await acknowledge("saved")
    }
  }

  /// Fills another scope of the file, and deletes it.
  func deleteScope() async throws {
    func open(
      _ recovery: StoreRecovery? = nil
    ) async throws(StoreError) -> ReplicaStore {
      try await ReplicaStore(
        at: path, scope: "scratch", schema: [Note.self], recovering: recovery)
    }
    let scratch: ReplicaStore
    do throws(StoreError) { scratch = try await open() } catch {
      // The scope was deleted, but its token was not.
      guard case .missing = error else { throw error }
      scratch = try await open(.asNewDevice)
    }
    try await scratch.save { $0[Note.self, "scratch"].title = "scratch" }
    _ = try await scratch.delta(since: ReplicaVersion())
    try await scratch.deleteScope()
    let scopes = try await ReplicaStore.scopes(at: path)
    guard scopes == ["main"] else { fatalError("\(scopes)") }
  }

  /// Puts an object into the folder of the store.
  mutating func putObject() async throws {
    let name = ObjectName(
      await store.device, .version(number: 1), nonce: random.next())
    let folder = URL(filePath: path).deletingLastPathComponent().path
    try await FolderStorage(at: folder).put(
      "\(name)", Array(String(repeating: "\(name)", count: 40).utf8))
    say("put \(name)")
  }

  /// Replaces the copy of the store.
  func copyOnly() async throws {
    removeCopy()
    try await store.backup(to: path + ".copy")
  }

  /// Removes the copy and the log that another process may have left.
  private func removeCopy() {
    for end in ["", ".token", "-wal", "-shm", "-journal"] {
      try? FileManager.default.removeItem(atPath: path + ".copy" + end)
    }
  }

  /// Copies the store while it is in use, and compares the copy.
  func copy() async throws {
    let path = self.path + ".copy"
    removeCopy()
    defer { removeCopy() }
    try await store.backup(to: path)
    let copy = try await ReplicaStore(at: path, schema: [Note.self])
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
        $0.replica.current.encoded()
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

/// Lets files grow to `limit` bytes.
///
/// A longer file causes an error instead of a signal.
///
/// - Returns: The limit before.
private func limitFiles(to limit: rlim_t) -> rlim_t {
  signal(SIGXFSZ, SIG_IGN)
  var limits = rlimit()
  guard getrlimit(fileSize, &limits) == 0 else { fatalError("no limits") }
  let former = limits.rlim_cur
  limits.rlim_cur = limit
  guard setrlimit(fileSize, &limits) == 0 else { fatalError("no limit") }
  return former
}

/// Limits files to the current size of a store.
///
/// - Returns: The limit before.
private func limitFiles(of path: String) -> rlim_t {
  // SQLite needs the index of the log to read the log.
  let log = try? FileManager.default.attributesOfItem(atPath: path + "-wal")
  let size = log?[.size] as? Int ?? 0
  return limitFiles(to: size > 0 ? rlim_t(max(size, 32_768)) : 0)
}

private let arguments = CommandLine.arguments
if arguments.count == 4, let limit = rlim_t(arguments[3]) {
  _ = limitFiles(to: limit)
}

switch arguments.dropFirst(3).first {
case "--copies": try await runCopies()
case "--pairs": try await runPairs()
case "--words":
  try await addWords(
    arguments[1], device: arguments[2], count: Int(arguments[4]) ?? 1)
case "--show": try await showWords(arguments[1])
case "--reading":
  try await runReading()
  say("end")
default: try await run()
}

/// Copies the store until the process is killed.
private func runCopies() async throws {
  let store = try await ReplicaStore(at: arguments[1], schema: [Note.self])
  for i in 1... {
    try await store.backup(to: "\(arguments[1]).copy-\(i)")
    say("copied \(i)")
  }
}

/// Saves pairs of records until the process is killed.
///
/// One record of each pair is large, so it has patches. Other records are deleted
/// and created again.
private func runPairs() async throws {
  let store = try await ReplicaStore(at: arguments[1], schema: [Note.self])
  _ = try await store.setting("wal_autocheckpoint = 30")
  try await store.save { transaction in
    for i in 0..<400 {
      transaction[Note.self, "large"].tags.insert("one of many tags, \(i)")
    }
  }
  let first = await store.read { $0[Note.self, "large"]?.saves ?? 0 }
  for n in (first + 1)... {
    try await store.save { transaction in
      for key in ["large", "small"] {
        transaction[Note.self, key].saves.increment(by: 1)
        transaction[Note.self, key].title = "\(n)"
      }
      if n % 2 == 0 {
        transaction.delete(RecordID("Note", "even"))
      } else {
        transaction[Note.self, "even"].title = "\(n)"
      }
    }
    say("saved \(n)")
  }
}

/// Opens a store that cannot be written, and saves when it can, after a line of
/// input.
private func runReading() async throws {
  var limit: rlim_t?
  if arguments[4] == "limited" {
    limit = limitFiles(of: arguments[1])
  } else if getuid() == 0 {
    guard setgid(65534) == 0, setuid(65534) == 0 else { fatalError("root") }
  }
  func open() async throws -> ReplicaStore {
    try await ReplicaStore(at: arguments[1], schema: [Note.self])
  }
  let store = try await open()
  let (views, reason) = (
    await store.read { $0[Note.self, "own"]?.saves ?? 0 },
    await store.writeError.map { "\($0)" } ?? "nothing"
  )
  say("read \(views) \(await store.deviceChange == nil ? 0 : 1) \(reason)")
  var changes = await store.changes.makeAsyncIterator()
  _ = try await changes.next()
  func save() async throws {
    try await store.save(undoable: "Count") {
      $0[Note.self, "own"].saves.increment(by: 1)
    }
  }
  do {
    try await save()
    say("saved too early")
  } catch { say("refused \(error)") }
  _ = readLine()
  if let limit { _ = limitFiles(to: limit) }
  do { try await save() } catch {
    say("refused \(error)")
    return
  }
  let told = try await changes.next() != nil
  let delta = try await store.delta(since: ReplicaVersion()) != nil
  say(
    "saved \(await store.deviceChange == nil ? 0 : 1) "
      + "\(await store.writeError == nil && told && delta)")
  try await store.close()
  let again = try await open()
  try await again.undo()
  let counts = await again.read { $0[Note.self, "own"]?.saves ?? 0 }
  say("again \(counts) \(await again.deviceChange == nil ? 0 : 1)")
}

/// Runs the writer.
///
/// The store closes at the end of this function.
private func run() async throws {
  var writer = try await Writer(arguments[1], seed: UInt64(arguments[2]) ?? 0)
  if arguments.count == 5, let steps = Int(arguments[4]) {
    writer.comparesCopies = false
    try await writer.keepBusy()
    for i in 0..<steps {
      try await writer.step()
      if i % 8 == 0 { try await writer.putObject() }
    }
    return
  }
  writer.hasOtherSteps = arguments.count == 3
  do {
    while true { try await writer.step() }
  } catch StoreError.notDurable { try await writer.acknowledge("full") }
}
