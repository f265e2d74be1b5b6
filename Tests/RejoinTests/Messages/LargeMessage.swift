// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin

/// Messages that make a reader use as much memory as possible.
///
/// Some are well-formed. The others are refused only at their end.
enum LargeMessage: String, CaseIterable {
  /// Ten short texts for each record, all from one save.
  case records
  /// Records with one field, whose keys share the longest possible prefix.
  case longKeys
  /// Devices without saves and without references.
  case devices
  /// Devices without saves in the clock of one field.
  case devicesInAVersion
  /// Devices with an interval of one save each.
  case intervals
  /// Devices with two saves each: the first added an element, and the last is in an
  /// interval.
  case additionsInIntervals
  /// Saves of one device, without references.
  case saves
  /// Saves of one device that each added an element.
  case additions
  /// Fields without records.
  case fields
  /// Fields of one record.
  case fieldsOfOneRecord
  /// Siblings of one register, each from another device.
  case siblings
  /// A deleted record with a field that all devices edited.
  case deletion
  /// A delta of a range, with one large set.
  case elementsInARange
  /// A patch of a set that lost many elements.
  case lostElements

  /// Returns a message of about `size` bytes.
  func bytes(_ size: Int) -> [UInt8] {
    let kind: WireKind =
      switch self {
      case .lostElements: .stored
      default: .delta
      }
    var out = WireWriter(kind)
    write(size, to: &out)
    return out.sealed()
  }

  private func write(_ size: Int, to out: inout WireWriter) {
    switch self {
    case .records: LargeMessage.records(size / 140, fields: 10, to: &out)
    case .longKeys: LargeMessage.records(size / 8, fields: 1, to: &out)
    case .devices:
      LargeMessage.devices(size / 17, entities: 0, to: &out) { _ in 0 }
    case .devicesInAVersion:
      LargeMessage.devices(size / 19, entities: 1, to: &out) { _ in 0 }
      LargeMessage.record(.register, to: &out)
      out.varint(1)
      out.varint(size / 19 - 1)
      for _ in 0..<(size / 19) { out.raw([0, 0]) }
    case .intervals:
      LargeMessage.devices(size / 28, entities: 0, to: &out) { _ in 1 << 3 | 1 }
      for _ in 0..<(size / 28) {
        out.raw([0, 0, 0])
        out.fixed(7)
      }
    case .additionsInIntervals:
      let count = size / 31
      LargeMessage.devices(count, entities: 1, to: &out) { _ in 2 << 3 | 1 }
      for _ in 0..<count {
        out.raw([0, 0, 0, 0, 1])
        out.fixed(7)
      }
      LargeMessage.record(.set, to: &out)
      out.varint(1 << 2)
      out.varint(1 << 3)
      // Every other save.
      for i in 0..<count {
        out.varint((i == 0 ? 0 : 2) + (i < count - 1 ? 1 : 0))
      }
    case .saves: LargeMessage.saves(size / 2, entities: 0, to: &out)
    case .additions:
      LargeMessage.saves(size / 3, entities: 1, to: &out)
      LargeMessage.record(.set, to: &out)
      out.varint(1 << 2)
      out.varint(1 << 3)
      for i in 0..<(size / 3) { out.varint(i < size / 3 - 1 ? 1 : 0) }
    case .fields:
      out.pair(0, 1)
      LargeMessage.fields(size / 4, to: &out)
      LargeMessage.key("", isLast: true, to: &out)
    case .fieldsOfOneRecord:
      LargeMessage.saves(1, entities: 1, to: &out)
      LargeMessage.fields(size / 6, to: &out)
      LargeMessage.key("", isLast: true, isOfOneSave: true, to: &out)
      out.pair(size / 6, 0)
      for _ in 1..<(size / 6) { out.varint(0) }
      for _ in 0..<(size / 6) { out.varint(0) }
    case .deletion:
      let count = size / 32
      LargeMessage.devices(count, entities: 1, to: &out) { _ in 1 << 3 | 1 }
      for _ in 0..<count {
        out.raw([0, 0, 0])
        out.fixed(7)
      }
      out.pair(1, 2)
      out.raw(Array("E".utf8))
      out.pair(FieldKind.existence.order, 0)
      out.pair(FieldKind.register.order, 1)
      out.raw(Array("f".utf8))
      LargeMessage.key("", isLast: true, to: &out)
      out.pair(2, 0)
      out.varint(0)
      // A deletion that covers all saves, and a field that has seen them.
      out.raw([1 << 2, 1, 0])
      for hasSeen in [false, true] {
        if hasSeen { out.varint(1) }
        out.varint(count - 1)
        for _ in 0..<count { out.raw([0, 0]) }
      }
    case .elementsInARange:
      LargeMessage.saves(1, entities: 1, to: &out)
      LargeMessage.record(.set, to: &out)
      out.varint((size / 4) << 2)
      for i in 0..<(size / 4) {
        out.value(.int(Int64(i)))
        out.varint(i == 0 ? 0 : 2)
      }
      let range = RecordRange(after: nil, through: RecordID("Z", ""))
      out.section(.range, WireWriter(range))
    case .lostElements:
      LargeMessage.devices(1, entities: 1, to: &out) { _ in 0 }
      LargeMessage.record(.set, to: &out)
      out.varint(3)
      out.varint(size / 5)
      for i in 0..<(size / 5) {
        let key = [i >> 14, i >> 7, i].map { UInt8($0 & 127) }
        out.value(
          .reference(RecordID("", String(decoding: key, as: UTF8.self))))
      }
      out.raw([0, 0, 0, 1])
    case .siblings:
      let count = size / 22
      LargeMessage.devices(count, entities: 1, to: &out) { _ in 1 << 3 }
      for _ in 0..<count { out.raw([0, 1, 0]) }
      LargeMessage.record(.register, to: &out)
      out.varint(4 * count)
      for _ in 0..<count { out.raw([0, 0, 0]) }
    }
  }

  /// Writes devices with consecutive IDs, each with its `head`.
  private static func devices(
    _ count: Int, entities: Int, to out: inout WireWriter,
    head: (Int) -> UInt64
  ) {
    out.pair(count, entities)
    for i in 0..<count {
      out.device(DeviceID(UInt64(i)))
      out.varint(head(i))
    }
  }

  /// Writes one device with many saves without timestamps.
  private static func saves(
    _ count: Int, entities: Int, to out: inout WireWriter
  ) {
    devices(1, entities: entities, to: &out) { _ in UInt64(count) << 3 }
    for _ in 0..<count { out.raw([0, 0]) }
  }

  /// Writes an entity with one field, and its only record up to the field.
  private static func record(_ kind: FieldKind, to out: inout WireWriter) {
    out.pair(1, 1)
    out.raw(Array("E".utf8))
    out.pair(kind.order, 1)
    out.raw(Array("f".utf8))
    key("", isLast: true, to: &out)
    out.pair(1, 0)
  }

  private static func key(
    _ key: String, after previous: String = "", isLast: Bool,
    isSame: Bool = false,
    isOfOneSave: Bool = false, distance: UInt64 = 0, to out: inout WireWriter
  ) {
    let shared = zip(key.utf8, previous.utf8).prefix { $0 == $1 }.count
    out.pair(min(shared, 63), key.utf8.count - min(shared, 63))
    out.raw(Array(key.utf8.dropFirst(min(shared, 63))))
    out.varint(
      (isLast ? 1 : 0) + (isSame ? 2 : 0) + (isOfOneSave ? 4 : 0)
        + 8 * distance)
  }

  /// Writes fields with names of three bytes.
  private static func fields(_ count: Int, to out: inout WireWriter) {
    out.pair(1, count)
    out.raw(Array("E".utf8))
    for i in 0..<count {
      let name = [i >> 14, i >> 7, i].map { UInt8($0 & 127) }
      out.pair(0, 3)
      out.raw(name)
    }
  }

  /// Writes records of one save.
  private static func records(
    _ count: Int, fields: Int, to out: inout WireWriter
  ) {
    saves(1, entities: 1, to: &out)
    out.pair(1, fields)
    out.raw(Array("E".utf8))
    for i in 0..<fields {
      out.pair(0, 2)
      out.raw(Array("f\(i)".utf8))
    }
    var previous = ""
    for i in 0..<count {
      let digits = String(i)
      let name =
        String(repeating: "k", count: fields == 1 ? 56 : 0)
        + String(repeating: "0", count: 7 - digits.count) + digits
      // The save is that of the previous record, at distance one.
      key(
        name, after: previous, isLast: i == count - 1, isSame: i > 0,
        isOfOneSave: true, distance: i > 0 ? 1 : 0, to: &out)
      previous = name
      if i == 0 { out.pair(fields, 0); for _ in 1..<fields { out.varint(0) } }
      for _ in 0..<fields {
        if fields == 1 {
          out.varint(0)
        } else {
          out.varint(12 << 3 | 4)
          out.raw(Array("twelve bytes".utf8))
        }
      }
    }
  }
}
