// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// The saves of three devices, and the other actions between their saves.
///
///     var program = ExplorerProgram.registers
///     program.times = [0, 1, 3_600_000]
///     let counts = try Explorer<ReplicaUnderTest>(program).search()
///     print(counts)  // 12345 configurations, …
///
/// Each save is made at most once, by one of its devices, in any order, while
/// the wall clock shows one of the times. At all other moments, wall clocks
/// show zero.
public struct ExplorerProgram: Sendable {
  /// The name of the program.
  public let name: String
  /// The records and fields.
  public let universe: ScriptUniverse
  /// An action that makes a save.
  public enum Save: Sendable {
    /// A save with these verbs.
    case verbs([ScriptVerb])
    /// Undo of the last save that can be undone, or redo.
    case undo(again: Bool)
    /// A purge of the contents of deleted records.
    case purge
    /// The retirement of one of the three devices.
    case retire(Int)
    /// An import of rows that every device already has.
    case bringIn([ScriptVerb])
    /// A pull of rows that a server changed at a time, in milliseconds since
    /// 1970.
    case pull([ScriptVerb], at: Int64)
    /// Edits of a record as a draft shows it that was fetched at the start.
    case draft(RecordID, [FieldKey: FieldEdit])
  }

  /// One to seven saves.
  public let saves: [Save]
  /// The devices that can make each save, by default all of them.
  public var savers: [[Int]]
  /// The times that a wall clock can show at a save, in milliseconds since
  /// 1970.
  public var times: [Int64] = [0, 1]
  /// The number of messages that are kept for late and repeated delivery, up to
  /// three.
  public var keptMessages = 1
  /// Whether halves of the kept messages are also delivered.
  public var splits = true
  /// Whether devices also send and keep parts of transfers.
  public var takesParts = false
  /// The first save of each device, which all devices receive before the start,
  /// or an empty list.
  public var introduction: [[ScriptVerb]] = []

  /// Creates a program whose saves consist of verbs.
  ///
  /// Each save must change a field that is sent to other devices, because only
  /// such saves distinguish histories.
  ///
  /// - Precondition: There are one to seven saves.
  public init(
    _ name: String, universe: ScriptUniverse, saves: [[ScriptVerb]]
  ) {
    self.init(name, universe: universe, saves: saves.map(Save.verbs))
  }

  /// Creates a program.
  ///
  /// - Precondition: There are one to seven saves.
  public init(_ name: String, universe: ScriptUniverse, saves: [Save]) {
    precondition((1...7).contains(saves.count), "a program has 1 to 7 saves")
    (self.name, self.universe, self.saves) = (name, universe, saves)
    savers = saves.map { _ in [0, 1, 2] }
  }

  /// Whether the program purges, so that devices must exchange their versions.
  var isPurging: Bool {
    saves.contains { if case .purge = $0 { true } else { false } }
  }

  /// Whether the program pulls rows.
  var isPulling: Bool {
    saves.contains { if case .pull = $0 { true } else { false } }
  }

  /// Whether purges must not change what the replicas show.
  ///
  /// All devices must know each other before the first purge. Rows come back
  /// without local edits.
  var hasPurgeLaw: Bool { isPurging && !introduction.isEmpty && !isPulling }

  /// The server of pulls.
  static let server = "S"

  /// Whether the program undoes saves, so that the undo history of a device
  /// matters.
  var isUndoing: Bool {
    saves.contains { if case .undo = $0 { true } else { false } }
  }
}
