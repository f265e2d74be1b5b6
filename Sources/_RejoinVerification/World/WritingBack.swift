// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// The only value that another version of the app can read.
public enum OnlyOne: FieldValue {
  /// The integer 1.
  case one

  /// Decodes the integer 1, and no other value.
  public init?(fieldValue value: Value) {
    if value != .int(1) { return nil }
    self = .one
  }

  /// The integer 1.
  public var fieldValue: Value { .int(1) }
}

/// A form for one field, in other versions of the app.
private struct Form: Entity {
  /// The field in an older version, which cannot read all its values.
  let older: Field<Form, MVRegister<OnlyOne>>
  /// The field in a version that declares it as a reference.
  let reference: Field<Form, MVRegister<Reference<Form>>>
  /// A field of a newer version that replaces it.
  let newer: Field<Form, MVRegister<Value>>

  init() { self.init(of: "") }

  init(of name: String) {
    older = Self.register(name, of: OnlyOne.self)
    reference = Self.register(name, of: Reference<Form>.self)
    newer = Self.register(
      name, of: Value.self,
      fallingBackTo: .set(of: Value.self) { $0 }, .counter { .int($0) })
  }
}

extension RecordEditor<Form> {
  /// Assigns each property as it reads.
  fileprivate func writeBack(to kind: FieldKind) {
    if kind == .register {
      self.older = self.older
      self.reference = self.reference
    } else {
      self.newer = self.newer
    }
  }
}

extension TestedLibrary {
  public func checkWritingBack(
    _ id: RecordID, _ keys: [FieldKey], named name: String
  ) throws(ScriptMismatch) {
    if !exists(id) { return }
    let copy = forked(as: DeviceID(0xf0f0)) { DeviceID(0xf0f1) }
    do throws(SaveError) {
      try copy.replica.save { transaction in
        for key in keys where [.register, .set, .counter].contains(key.kind) {
          RecordEditor(
            id: id, target: transaction,
            fields: DeclaredFields(Form(of: key.name))
          ).writeBack(to: key.kind)
        }
      }
    } catch { throw ScriptMismatch("writing \(id) back throws \(error)") }
    let (before, after) = (fetch(id), copy.fetch(id))
    for key in keys {
      let location = FieldLocation(record: id, field: key)
      try agree(
        "the value of \(location) on \(name), written back", after[key].value,
        before[key].value)
      try agree(
        "\(location) on \(name), written back and read by a later version",
        copy.laterReading(of: location)?.shown,
        laterReading(of: location)?.shown)
    }
  }
}
