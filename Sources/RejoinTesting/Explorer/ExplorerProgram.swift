//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//
import Rejoin

/// What three devices save, and what else can happen between their saves.
///
///     let program = ExplorerProgram(
///       "one register", universe: .standard,
///       saves: [[.touch(RecordID("Note", "a"))], [.touch(RecordID("Note", "b"))]])
///     try Explorer<LibraryReplica>(program).search()
///
/// Any device makes any of the saves, in any order, when its wall clock shows any of
/// the times, or leaves it.
public struct ExplorerProgram: Sendable {
  /// What the program is about.
  public let name: String
  /// The records and fields.
  public let universe: ScriptUniverse
  /// The saves, up to seven.
  public let saves: [[ScriptVerb]]
  /// What a wall clock can show at a save, in milliseconds since 1970.
  public var times: [Int64] = [0, 1]
  /// How many messages are kept for late and repeated delivery, up to three.
  public var keptMessages = 1
  /// Whether the kept messages are cut in two as well.
  public var splits = true

  /// Creates a program.
  ///
  /// - Precondition: There are one to seven saves.
  public init(
    _ name: String, universe: ScriptUniverse, saves: [[ScriptVerb]]
  ) {
    precondition((1...7).contains(saves.count), "a program has 1 to 7 saves")
    (self.name, self.universe, self.saves) = (name, universe, saves)
  }
}
