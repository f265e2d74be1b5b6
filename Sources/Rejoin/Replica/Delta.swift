//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

/// What one replica tells another: fields, each complete with its clock, and which
/// saves they bring.
///
/// A delta may be lost, doubled, reordered, passed on and split; a field that it
/// touches is never wrong, at most late.
public struct Delta: Sendable {
  /// The fields of one record.
  public struct Change: Hashable, Sendable {
    /// The record.
    public let id: RecordID
    /// Its fields, sorted by name and kind.
    public internal(set) var fields: [FieldKey: FieldState]
  }

  /// The saves of one device after `from` and up to `to`, all effects of which are
  /// in the delta.
  public struct Interval: Hashable, Sendable {
    /// The last save before the interval.
    public let from: UInt64
    /// The last save in the interval.
    public let to: ReplicaClock.Save
    /// The receiver's last save as the sender has it, where the two belong to
    /// different histories of the device.
    ///
    /// The interval then begins at zero.
    public internal(set) var disputed: ReplicaClock.Save?
  }

  /// The records with fields that are news, sorted by name.
  public private(set) var changes: [Change]

  /// The news of each device.
  public private(set) var intervals: [DeviceID: Interval]

  init(changes: [Change], intervals: [DeviceID: Interval]) {
    self.changes = changes.sorted { $0.id < $1.id }
    self.intervals = intervals
  }

  /// The number of fields.
  public var fieldCount: Int { changes.reduce(0) { $0 + $1.fields.count } }

  /// Cuts the delta into parts with about as many fields each.
  ///
  /// A part carries no interval: applying it brings its fields up to date and
  /// advances no clock.
  ///
  /// - Precondition: `count` is positive.
  public func split(into count: Int) -> [Delta] {
    precondition(count > 0, "a delta is cut into one part or more")
    let fields = changes.flatMap { change in
      change.fields.sorted { $0.key < $1.key }.map {
        (id: change.id, key: $0.key, state: $0.value)
      }
    }
    return (0..<count).map { i in
      let part = fields[
        (i * fields.count / count)..<((i + 1) * fields.count / count)]
      var changes: [RecordID: Change] = [:]
      for field in part {
        changes[field.id, default: Change(id: field.id, fields: [:])]
          .fields[field.key] = field.state
      }
      return Delta(changes: Array(changes.values), intervals: [:])
    }
  }
}

extension Delta: Hashable {}
