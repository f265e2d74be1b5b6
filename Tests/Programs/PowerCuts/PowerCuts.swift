// SPDX-License-Identifier: Apache-2.0

import RejoinTesting

/// The power cuts in a sequence of events.
struct PowerCuts {
  private(set) var disk = Disk()
  private(set) var failureCount = 0
  private let events: [Event]
  private let times: Int
  private let inspector: Inspector
  private var random = SeededRandom(seed: 1)
  /// The number of past events.
  private var done = 0
  /// The last acknowledgement, and the last possibly sent save.
  private var (last, sent): (Acknowledgement?, UInt64?) = (nil, nil)
  /// The objects that are in the folder.
  private var objects: Set<String> = []
  /// The contents since the last acknowledgement, so none is opened twice.
  private var seen: Set<[String: [UInt8]]> = []
  private var (cutCount, openedCount) = (0, 0)

  /// - Parameter times: The number of cuts that keep some unsynced changes.
  init(_ events: [Event], times: Int, inspector: Inspector) {
    (self.events, self.times, self.inspector) = (events, times, inspector)
  }

  /// Continues with the next events.
  mutating func run(_ count: Int) async throws {
    for event in events[done..<done + count] {
      if event.isSync { try await cut(times) }
      disk.apply(event)
      done += 1
      switch event {
      case .sync, .syncFolder: try await cut(times)
      case .acknowledge(let acknowledgement):
        last = acknowledgement
        if acknowledgement.what == "sent" { sent = acknowledgement.number }
        seen = []
        try await cut(times)
      case .put(let name):
        objects.insert(name)
        seen = []
        try await cut(times)
      case .create, .write, .resize, .rename, .link, .remove:
        if random.chance(percent: 5) { try await cut(1) }
      }
    }
  }

  private mutating func cut(_ times: Int) async throws {
    cutCount += 1
    try await open(disk.synced)
    try await open(disk.content)
    for _ in 0..<times { try await open(disk.cut(&random)) }
  }

  /// Opens the content that a power cut left.
  private mutating func open(_ content: [String: [UInt8]]) async throws {
    guard seen.insert(content).inserted else { return }
    openedCount += 1
    let faults = try await inspector.faults(
      in: content, last: last, next: next, sent: sent, objects: objects)
    if faults.isEmpty { return }
    failureCount += 1
    if failureCount > 20 { return }
    let after = done == 0 ? "the beginning" : "\(events[done - 1])"
    print("event \(done), \(after):")
    for fault in faults { print("  \(fault)") }
    let files = content.sorted { $0.key < $1.key }
      .map { "\($0.key) \($0.value.count)" }
    print("  in: \(files.joined(separator: ", "))")
  }

  /// The next acknowledgement.
  private var next: Acknowledgement? {
    for case .acknowledge(let next) in events[done...] { return next }
    return nil
  }

  /// The number of times that the log started.
  ///
  /// It restarts after the file contains all of it.
  var logCount: Int {
    events.count {
      if case .write(inspector.database + "-wal", _, at: 0) = $0 {
        true
      } else {
        false
      }
    }
  }

  /// The counts of the run.
  var report: String {
    let checkpoints = events.count {
      if case .sync(inspector.database) = $0 { true } else { false }
    }
    let acknowledged = events.count {
      if case .acknowledge = $0 { true } else { false }
    }
    return """
      \(events.count) events: \(acknowledged) acknowledgements, \
      \(events.count(where: \.isSync)) syncs, \(checkpoints) of the file, \
      and \(logCount) logs
      \(objects.count) objects
      \(cutCount) power cuts, \(openedCount) stores opened, \(failureCount) faulty
      """
  }
}
