// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// What three devices save, and what else can happen between their saves.
///
///     var program = ExplorerProgram.registers
///     program.times = [0, 1, 3_600_000]
///     let counts = try Explorer<ReplicaUnderTest>(program).search()
///     print(counts)  // 12345 configurations, …
///
/// A save is made by any of its devices, in any order, when the wall clock shows any
/// of the times, or never. Wall clocks show zero at all other moments.
public struct ExplorerProgram: Sendable {
  /// What the program is about.
  public let name: String
  /// The records and fields.
  public let universe: ScriptUniverse
  /// What a device does that makes a save.
  public enum Save: Sendable {
    /// A save with these verbs.
    case verbs([ScriptVerb])
    /// Undoing the last save that can be undone, or redoing it.
    case undo(again: Bool)
    /// Dropping what dead records hold.
    case purge
    /// Retiring one of the three devices.
    case retire(Int)
    /// Bringing in rows that every device already has.
    case bringIn([ScriptVerb])
  }

  /// The saves, up to seven.
  public let saves: [Save]
  /// For each save the devices that can make it: any, unless it says otherwise.
  public var savers: [[Int]]
  /// What a wall clock can show at a save, in milliseconds since 1970.
  public var times: [Int64] = [0, 1]
  /// How many messages are kept for late and repeated delivery, up to three.
  public var keptMessages = 1
  /// Whether halves of the kept messages are delivered as well.
  public var splits = true
  /// Whether devices also send and keep parts of transfers.
  public var takesParts = false

  /// Creates a program.
  ///
  /// Only saves that touch a field that travels tell histories apart, so each save
  /// needs one.
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

  /// Whether devices have to tell each other what they hold, since something is
  /// purged.
  var isPurging: Bool {
    saves.contains { if case .purge = $0 { true } else { false } }
  }

  /// Whether it makes a difference to a device which saves it can undo.
  var isUndoing: Bool {
    saves.contains { if case .undo = $0 { true } else { false } }
  }
}
