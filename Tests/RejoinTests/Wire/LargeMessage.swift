// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin

/// Messages that make a reader use as much memory as possible.
///
/// Some are well-formed, the others are refused, but not before their end.
enum LargeMessage: String, CaseIterable {
  /// Ten short texts for each record, all from one save.
  case snapshot
  /// Every record has one field, and its key shares what it can.
  case longKeys
  /// Devices without saves, which nothing refers to.
  case devices
  /// Devices without saves, all of which one field has seen.
  case devicesInAVersion
  /// Devices with an interval of one save each.
  case intervals
  /// Devices with two saves each, not one after the other: the first added an
  /// element, and the last is in an interval.
  case intervalsWithGaps
  /// Saves of one device, which nothing refers to.
  case saves
  /// Saves with gaps between them, which nothing refers to.
  case savesWithGaps
  /// Saves of one device, all of which added an element.
  case additions
  /// Fields, none of which a record has.
  case fields
  /// Fields, all of which one record has.
  case fieldsOfOneRecord
  /// Siblings of one register, each from another device.
  case siblings
  /// A deleted record with a field that all devices edited.
  case deletion

  /// A message of about so many bytes.
  func bytes(_ size: Int) -> [UInt8] {
    var out = WireWriter(.snapshot)
    write(size, to: &out)
    return out.sealed()
  }

  private func write(_ size: Int, to out: inout WireWriter) {
    switch self {
    case .snapshot: LargeMessage.records(size / 140, fields: 10, to: &out)
    case .longKeys: LargeMessage.records(size / 8, fields: 1, to: &out)
    case .devices:
      LargeMessage.devices(size / 3, entities: 0, to: &out) { $0.varint(0) }
    case .devicesInAVersion:
      LargeMessage.devices(size / 5, entities: 1, to: &out) { $0.varint(0) }
      LargeMessage.record(.register, to: &out)
      out.varint(1)
      out.varint(size / 5)
      for _ in 0..<(size / 5) { out.raw([0, 0]) }
    case .intervals:
      LargeMessage.devices(size / 5, entities: 0, to: &out) {
        $0.raw([0b1_0011, 1, 2])
      }
    case .intervalsWithGaps:
      LargeMessage.devices(size / 8, entities: 1, to: &out) {
        $0.raw([0b10_0001, 1, 1, 0, 2])
      }
      LargeMessage.record(.set, to: &out)
      out.varint(2)
      out.varint(1 << 3)
      // Every other save.
      for i in 0..<(size / 8) {
        out.varint((i == 0 ? 0 : 2) + (i < size / 8 - 1 ? 1 : 0))
      }
    case .saves: LargeMessage.saves(size, entities: 0, to: &out)
    case .savesWithGaps:
      LargeMessage.saves(size / 2, hasGaps: true, entities: 0, to: &out)
    case .additions:
      LargeMessage.saves(size / 2, entities: 1, to: &out)
      LargeMessage.record(.set, to: &out)
      out.varint(2)
      out.varint(1 << 3)
      out.varint(1)
      for i in 1..<(size / 2) { out.varint(i < size / 2 - 1 ? 1 : 0) }
    case .fields:
      out.pair(0, 1)
      LargeMessage.fields(size / 4, to: &out)
      LargeMessage.key("", isLast: true, to: &out)
    case .fieldsOfOneRecord:
      LargeMessage.saves(1, hasTimes: true, entities: 1, to: &out)
      LargeMessage.fields(size / 6, to: &out)
      LargeMessage.key("", isLast: true, form: 1, to: &out)
      out.pair(size / 6, 0)
      for _ in 1..<(size / 6) { out.varint(0) }
      for _ in 0..<(size / 6) { out.varint(0) }
    case .deletion:
      let count = size / 7
      LargeMessage.devices(count, entities: 1, to: &out) {
        $0.raw([0b1_0011, 1, 2])
      }
      out.pair(1, 1)
      out.raw(Array("E".utf8))
      out.pair(Int(FieldKind.register.shapeCode), 1)
      out.raw(Array("f".utf8))
      LargeMessage.key("", isLast: true, to: &out)
      out.pair(1, 1)
      out.varint(1)
      out.varint(count)
      for _ in 0..<count { out.raw([0, 0]) }
      out.raw([2, 2])
    case .siblings:
      LargeMessage.devices(size / 6, entities: 1, to: &out) {
        $0.raw([0b1_0010, 1, 2])
      }
      LargeMessage.record(.register, to: &out)
      out.varint(4 * (size / 6) + 2)
      out.varint(0)
      for _ in 0..<(size / 6) { out.varint(0) }
    }
  }

  /// Devices with consecutive IDs, each with its `content`.
  private static func devices(
    _ count: Int, entities: Int, to out: inout WireWriter,
    content: (inout WireWriter) -> Void
  ) {
    out.pair(count, entities)
    var previous: DeviceID?
    for i in 0..<UInt64(count) {
      out.device(DeviceID(i), after: previous)
      previous = DeviceID(i)
      content(&out)
    }
  }

  /// One device with many saves.
  private static func saves(
    _ count: Int, hasGaps: Bool = false, hasTimes: Bool = false, entities: Int,
    to out: inout WireWriter
  ) {
    out.pair(1, entities)
    out.device(DeviceID(1), after: nil)
    out.varint(UInt64(count) << 4 | (hasGaps ? 0 : 2))
    out.varint(1)
    if hasGaps { for _ in 1..<count { out.varint(1) } }
    for _ in 0..<count { out.varint(hasTimes ? 1 : 0) }
  }

  /// An entity with one field, and its only record up to the field.
  private static func record(_ kind: FieldKind, to out: inout WireWriter) {
    out.pair(1, 1)
    out.raw(Array("E".utf8))
    out.pair(Int(kind.shapeCode), 1)
    out.raw(Array("f".utf8))
    key("", isLast: true, to: &out)
    out.pair(1, 0)
  }

  private static func key(
    _ key: String, after previous: String = "", isLast: Bool,
    isSame: Bool = false,
    form: UInt64 = 0, distance: UInt64 = 0, to out: inout WireWriter
  ) {
    let shared = zip(key.utf8, previous.utf8).prefix { $0 == $1 }.count
    out.pair(min(shared, 63), key.utf8.count - min(shared, 63))
    out.raw(Array(key.utf8.dropFirst(min(shared, 63))))
    out.varint(
      (isLast ? 1 : 0) + (isSame ? 2 : 0) + 4 * form + 16 * distance)
  }

  /// Fields with names of two letters, of all shapes.
  private static func fields(_ count: Int, to out: inout WireWriter) {
    out.pair(1, count)
    out.raw(Array("E".utf8))
    for i in 0..<count {
      let name = [i >> 14, i >> 7, i].map { UInt8($0 & 127) }
      out.pair(0, 3)
      out.raw(name)
    }
  }

  /// Records of one save.
  private static func records(
    _ count: Int, fields: Int, to out: inout WireWriter
  ) {
    saves(1, hasTimes: true, entities: 1, to: &out)
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
      // The save is that of the record before: the place after it, less one.
      key(
        name, after: previous, isLast: i == count - 1, isSame: i > 0,
        form: 1, distance: i > 0 ? 1 : 0, to: &out)
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
