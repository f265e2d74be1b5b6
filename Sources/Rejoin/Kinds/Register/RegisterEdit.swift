// SPDX-License-Identifier: Apache-2.0

/// The last write to a register in one save.
struct RegisterEdit: KindEdit {
  /// The value, or `nil` to unset the register.
  var value: Value?

  var mayContainReferences: Bool { value?.isReference == true }

  var removes: Bool { false }

  var byteBound: Int { value.map { ByteBound.save + $0.byteBound } ?? 0 }

  var canonical: RegisterEdit { RegisterEdit(value: value?.canonical) }

  mutating func append(_ later: RegisterEdit) -> Bool {
    self = later
    return true
  }

  func add(to digest: inout Digest) {
    digest.add(1)
    digest.add(value)
  }
}
