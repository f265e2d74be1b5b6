// SPDX-License-Identifier: Apache-2.0

extension UndoStep {
  /// Decodes the changes of a save.
  ///
  /// - Parameters:
  ///   - bytes: The bytes that ``encoded()`` returned.
  ///   - dot: The save, which is not part of the bytes.
  ///   - name: The name for the menu, which is not part of the bytes.
  /// - Throws: ``WireError`` with the offset of the error.
  /// - Complexity: O(*n*), where *n* is the number of bytes.
  package init(
    decoding bytes: some Sequence<UInt8>, dot: Dot?, name: String?
  ) throws(WireError) {
    self = try withBytes(of: bytes) { bytes throws(WireError) in
      var reader = try UndoStepReader(bytes)
      return try reader.step(UndoStep(dot: dot, name: name))
    }
  }

  /// Returns the changes of the save as bytes, without its dot and its name.
  ///
  /// Steps with equal changes have equal bytes.
  package func encoded() -> [UInt8] {
    var writer = UndoStepWriter()
    writer.out.reserve(64 + 24 * changes.count)
    writer.write(self)
    return writer.out.sealed()
  }
}

/// The bits in the first byte of a change of a register or an element.
enum SiblingsFlags {
  static let isThere: UInt8 = 1
  static let before: UInt8 = 2
  static let time: UInt8 = 4
  static let dot: UInt8 = 8
  static let beside: UInt8 = 16
}

/// The bits in the first byte of a change of a record's existence.
enum ExistenceFlags {
  static let existed: UInt8 = 1
  static let isThere: UInt8 = 2
  static let isDeletion: UInt8 = 4
  static let wasFinal: UInt8 = 8
  static let covered: UInt8 = 16
  static let superseded: UInt8 = 32
  static let outlived: UInt8 = 64
}
