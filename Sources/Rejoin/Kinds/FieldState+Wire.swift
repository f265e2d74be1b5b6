// SPDX-License-Identifier: Apache-2.0

extension FieldState {
  /// Writes the field in full: its store, and the part of its causal context that
  /// the store does not imply.
  func write(to writer: inout FieldWriter) {
    readField { $0.write(to: &writer) }
  }

  /// Reads a field, which stays empty if the reader only validates.
  ///
  /// - Parameter entersRecord: Whether the record's marks of existence follow.
  static func read(
    _ kind: FieldKind, entersRecord: Bool, from reader: inout FieldReader
  ) throws(WireError) -> FieldState {
    try reader.begin()
    return try kind.store.readField(from: &reader, entersRecord)
  }
}

extension FieldStore {
  fileprivate static func readField(
    from reader: inout FieldReader, _ entersRecord: Bool
  ) throws(WireError) -> FieldState {
    var store = try read(from: &reader)
    try reader.end(entersRecord: entersRecord)
    try store.complete(from: reader)
    guard reader.isBuilding else { return FieldState(Causal<Self>()) }
    let isImplied = !reader.hasRemainder && keepsLastDots
    return FieldState(
      Causal(store, isImplied ? nil : reader.dots.clock(reader.saves)))
  }
}

extension Causal where Store: FieldStore {
  func write(to writer: inout FieldWriter) {
    let rest = explicitRemainder
    writer.hasRemainder = !rest.isEmpty
    store.write(to: &writer)
    if !rest.isEmpty { writer.write(rest, beyond: store.dots) }
  }
}

extension Fragment {
  /// Writes the fragment: its field, and how many saves of each device in its clock
  /// are new.
  func write(to writer: inout FieldWriter) {
    writer.continued = continued
    state.write(to: &writer)
    writer.continued = nil
    for entry in state.clock.entries {
      writer.out.varint(entry.count - basis[entry.device])
    }
  }

  /// Creates the fragment with a state that a reader has just read, or `nil` if the
  /// reader read a whole field.
  init?(_ state: FieldState, from reader: FieldReader) {
    guard reader.isFragment else { return nil }
    self.init(
      state: state, basis: reader.basis, continued: reader.continued)
  }
}

extension SaveIndex {
  /// Collects the devices and saves that a field refers to.
  mutating func insert(_ field: FieldState) {
    field.read { store in
      store.forEachSave { insert($0, $1?.rawValue) }
      for device in store.devices { insert(device) }
    }
    for entry in field.readField({ $0.explicitRemainder }) {
      insert(entry.device)
    }
  }
}

extension FieldKind {
  /// The number of the kind in tables of fields.
  var shapeCode: UInt8 { store.shapeCode }

  /// Creates the kind with a number, or `nil` if no kind of a schema has it.
  init?(shapeCode: UInt8) {
    guard
      let kind = FieldKind.allCases.first(where: { $0.shapeCode == shapeCode })
    else { return nil }
    self = kind
  }
}
