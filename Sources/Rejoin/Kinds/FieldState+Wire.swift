// SPDX-License-Identifier: Apache-2.0

extension FieldState {
  /// Writes the whole field: its store, and the part of its causal context that
  /// the store does not imply.
  func write(to writer: inout FieldWriter) {
    readField { $0.write(to: &writer, as: nil) }
  }

  /// Reads a field.
  ///
  /// If the reader only validates, the field stays empty.
  static func read(
    _ kind: FieldKind, from reader: inout FieldReader
  ) throws(WireError) -> FieldState {
    try kind.store.readField(from: &reader)
  }
}

extension FieldStore {
  fileprivate static func readField(
    from reader: inout FieldReader
  ) throws(WireError) -> FieldState {
    try reader.bytes.require(
      !reader.isFragment || supportsFragments, .invalid,
      "a fragment of a set, a counter or a ledger, in a delta",
      at: reader.start)
    let store = try read(from: &reader)
    try reader.end()
    guard reader.isBuilding else { return FieldState(Causal<Self>()) }
    let isImplied = !reader.hasRemainder && keepsLastDots
    return FieldState(
      Causal(store, isImplied ? nil : reader.dots.clock(reader.saves)))
  }
}

extension Causal where Store: FieldStore {
  func write(to writer: inout FieldWriter, as fragment: FragmentParts?) {
    let rest = explicitRemainder
    writer.begin(fragment, hasRemainder: !rest.isEmpty)
    store.write(to: &writer)
    if !rest.isEmpty { writer.entries(rest, beyond: store.dots) }
  }
}

extension Fragment {
  /// Writes the fragment: its field and, for each device in its clock, the
  /// number of new saves.
  func write(to writer: inout FieldWriter) {
    var parts = FragmentParts()
    (parts.continued, parts.lost) = (continued, lost)
    state.readField { $0.write(to: &writer, as: parts) }
    for entry in state.clock.entries {
      writer.out.varint(entry.count - basis[entry.device])
    }
  }

  /// Creates a fragment from a state that the reader has just read.
  init(_ state: FieldState, from reader: FieldReader) {
    let parts = reader.fragment
    self.init(
      state: state, basis: parts.basis, continued: parts.continued,
      lost: parts.lost)
  }
}

extension SaveIndex {
  /// Adds the devices and saves that a field refers to.
  mutating func insert(_ field: FieldState) {
    field.read { store in
      store.forEachSave { insert($0, $1?.rawValue) }
      for entry in store.namedSaves { insert(entry) }
    }
    for entry in field.readField({ $0.explicitRemainder }) { insert(entry) }
  }
}
