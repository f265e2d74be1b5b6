// SPDX-License-Identifier: Apache-2.0

import RejoinStore
import RejoinTesting

/// Damages the files of a store and opens the rest.
///
/// The store must be intact, report that it is damaged or missing, or take a
/// new device ID and report the missing saves. Every save was sent, because a
/// log that ends with unsent saves looks like a log after a crash.
struct Damage {
  private struct Note: Entity {
    let title = register("title", of: String.self)
    let tags = set("tags", of: String.self)
  }

  private enum Outcome: String, CaseIterable {
    case unharmed = "unharmed"
    case newDevice = "opened under a new device"
    case damaged = "damaged"
    case missing = "missing"
    case refused = "not opened for another reason"
  }

  /// A kind of damage to a file.
  private enum Harm: String, CaseIterable {
    case flip = "byte flipped"
    case truncation = "file truncated"
    case deletion = "file deleted"
  }

  private static let files = ["", "-wal", ".token"]
  private let folder: String
  private var random = SeededRandom(seed: 1)
  /// The bytes of each file.
  private var whole: [String: [UInt8]] = [:]
  /// The records after each save.
  private var states: [[UInt8]] = [[]]
  private var shown: [ShownRecords] = []
  private var outcomes: [String: Int] = [:]
  private(set) var faults: [String] = []

  init(in folder: String) async throws {
    self.folder = folder
    try await fill()
  }

  private func path(_ name: String) -> String { "\(folder)/\(name).sqlite" }

  private static func open(_ path: String) async throws -> ReplicaStore {
    try await ReplicaStore(at: path, schema: [Note.self])
  }

  /// Creates the store, with one part in the file and the other in the log.
  private mutating func fill() async throws {
    let store = try await Damage.open(path("whole"))
    for i in 1...80 {
      if i == 75 { _ = try await store.setting("wal_checkpoint(TRUNCATE)") }
      try await store.save(undoable: "Save \(i)") { transaction in
        let note = transaction[Note.self, "\(i % 30)"]
        // The text is long, so most bytes of the file are significant.
        note.title = String(repeating: "title \(i) ", count: 100)
        note.tags.insert("tag \(i)")
      }
      _ = try await store.delta(since: ReplicaVersion())
      states.append(await store.read { $0.replica.delta()?.encoded() ?? [] })
      shown.append(await store.read { ShownRecords(in: $0) })
    }
    for file in Damage.files {
      whole[file] = Array(
        try Data(contentsOf: URL(fileURLWithPath: path("whole") + file)))
    }
  }

  /// Damages a file `count` times.
  mutating func run(_ count: Int) async throws {
    for i in 0..<count {
      let file = Damage.files[i % 3]
      // The deletion of a file always has the same result.
      let harm: Harm =
        i < 30 ? .deletion : random.next() % 4 == 0 ? .truncation : .flip
      let what = try put(file, harm)
      await read(what)
      let outcome: Outcome
      do {
        outcome = try await inspect(Damage.open(path("harmed")), what)
      } catch StoreError.missing {
        outcome = .missing
      } catch StoreError.damaged {
        outcome = .damaged
      } catch is StoreError {
        outcome = .refused
      }
      let name = file.isEmpty ? "main file" : file == "-wal" ? "log" : "token"
      outcomes["\(name), \(harm.rawValue): \(outcome.rawValue)", default: 0] +=
        1
    }
  }

  /// Reads the damaged files without opening a store.
  ///
  /// Each record that is shown must be as after one save. A record can be missing
  /// or listed without content, because a reader lists records by an index, which
  /// only a store checks.
  private mutating func read(_ what: String) async {
    let read: ShownRecords
    do {
      read = try await StoreReader(at: path("harmed"), schema: [Note.self])
        .read { ShownRecords(in: $0) }
    } catch {
      let kind = error is StoreError ? "an error" : "another error: \(error)"
      outcomes["reader: \(kind)", default: 0] += 1
      return
    }
    let state = shown.last { read.differing(from: $0).isEmpty }
    guard let state else {
      let differing = read.differing(from: shown[shown.count - 1])
      faults.append("\(what): a reader shows \(differing) as never saved")
      return
    }
    let outcome =
      if state == read {
        "whole"
      } else if Set(read.records).isSubset(of: state.records) {
        "records missing"
      } else {
        "records listed that do not exist"
      }
    outcomes["reader: \(outcome)", default: 0] += 1
  }

  /// Writes the files, one of them damaged, and describes the damage.
  private mutating func put(_ file: String, _ harm: Harm) throws -> String {
    var what = "\(file), \(harm.rawValue)"
    for name in Damage.files + ["-shm"] {
      let url = URL(fileURLWithPath: path("harmed") + name)
      try? FileManager.default.removeItem(at: url)
      guard var bytes = whole[name] else { continue }
      if name == file {
        let place = Int(random.next() % UInt64(bytes.count))
        switch harm {
        case .flip: bytes[place] ^= 1 << (random.next() % 8)
        case .truncation: bytes.removeSubrange(place...)
        case .deletion: continue
        }
        what += " at \(place) of \(bytes.count)"
      }
      try Data(bytes).write(to: url)
    }
    return what
  }

  private mutating func inspect(
    _ store: ReplicaStore, _ what: String
  ) async throws -> Outcome {
    let bytes = await store.read { $0.replica.delta()?.encoded() ?? [] }
    let change = await store.deviceChange
    // Opening repairs the indexes that a reader uses.
    let shown = await store.read { ShownRecords(in: $0) }
    let read = try await store.reader().read { ShownRecords(in: $0) }
    if shown != read {
      faults.append("\(what): a reader shows \(read), the store \(shown)")
    }
    try await store.close()
    guard let state = states.lastIndex(of: bytes) else {
      faults.append("\(what): the content was never saved")
      return .unharmed
    }
    if state == 0 { faults.append("\(what): it is empty, without an error") }
    let last = states.count - 1
    guard let change else {
      if state < last {
        faults.append("\(what): \(last - state) saves are lost")
      }
      return .unharmed
    }
    if change.lastStored != UInt64(state) {
      faults.append("\(what): \(change.lastStored) saves, and not \(state)")
    }
    // The token may be the damaged file.
    if let sent = change.lastSent, sent != UInt64(last) {
      faults.append("\(what): save \(sent) was sent last, and not \(last)")
    }
    if state < last, change.lastSent == nil {
      faults.append("\(what): it does not report that saves are missing")
    }
    return .newDevice
  }

  /// The number of times that each outcome occurred.
  var report: String {
    outcomes.sorted { $0.key < $1.key }
      .map {
        "\(String(repeating: " ", count: max(0, 5 - "\($0.value)".count)))\($0.value)  \($0.key)"
      }
      .joined(separator: "\n")
  }
}
