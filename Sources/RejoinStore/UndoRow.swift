// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSQL

/// A row of `rejoin_undo`, without its body.
struct UndoRow: Equatable {
  /// The save of a row.
  struct Save: Equatable {
    let dot: Dot
    /// The name for the menu, or `nil` without one.
    let name: String?
  }

  /// The number of the row, or zero before the row is inserted.
  var number: Int64
  /// The save, or `nil` if the columns do not contain one.
  let save: Save?
  let isUndone: Bool
  /// The number of bytes in the body.
  let byteCount: Int

  init(number: Int64, save: Save, isUndone: Bool, byteCount: Int) {
    (self.number, self.save) = (number, save)
    (self.isUndone, self.byteCount) = (isUndone, byteCount)
  }

  /// The columns that ``init(_:byteCount:)`` reads, and their number.
  static let (columns, count) = ("step, undone, name, device, n", 5)

  /// Creates the row that a query read.
  init(_ row: any SQLRow, byteCount: Int) {
    number = row.integer(0)
    isUndone = row.integer(1) != 0
    save = UndoRow.save(row)
    self.byteCount = byteCount
  }

  private static func save(_ row: any SQLRow) -> Save? {
    let n = row.bits(4)
    guard let device = row.withBytes(3, { DeviceID(raw: $0) }), n > 0 else {
      return nil
    }
    let dot = Dot(device, n)
    if case .null = row.value(2) { return Save(dot: dot, name: nil) }
    guard let name = String(validating: row.bytes(2), as: UTF8.self) else {
      return nil
    }
    return Save(dot: dot, name: name)
  }

  /// The name in a column.
  var name: SQLValue {
    save?.name.map { .bytes(Array($0.utf8)) } ?? .null
  }

  /// The number of bytes that count toward the limit.
  var size: Int { byteCount + (save?.name?.utf8.count ?? 0) }

  /// The check of all columns and the body.
  func check(of body: [UInt8], in scope: Int64) -> Int64 {
    var check = RowCheck(
      UInt64(bitPattern: scope), UInt64(bitPattern: number), isUndone ? 1 : 0,
      save?.dot.device.high ?? 0, save?.dot.device.low ?? 0,
      save?.dot.sequence ?? 0, save?.name == nil ? 0 : 1)
    check.add(Array((save?.name ?? "").utf8))
    check.add(body)
    return check.value
  }

  /// Returns whether a row of this version cannot be decoded.
  func isDamaged(_ body: [UInt8]) -> Bool {
    guard let save else { return true }
    do throws(WireError) {
      _ = try UndoStep(decoding: body, dot: save.dot, name: save.name)
    } catch {
      return ![.newerVersion, .olderVersion].contains(error.code)
    }
    return false
  }
}
