// SPDX-License-Identifier: Apache-2.0

/// A dot store that can be the content of a field.
///
/// The protocol lists everything that a kind of field does. Code over all kinds
/// uses a ``FieldState`` or is generic.
package protocol FieldStore: DotStore {
  /// The kind of the fields with such a store.
  static var kind: FieldKind { get }

  /// Returns a field of any kind.
  static func boxed(_ field: consuming Causal<Self>) -> FieldState.Box

  /// Returns the field in a box, or `nil` if the field has another kind.
  static func unboxed(_ box: FieldState.Box) -> Causal<Self>?

  // Editing.

  /// Whether an edit may overflow, so that a save has to ask before.
  static var mayOverflow: Bool { get }

  /// Returns whether a save of a device can make the edit without an overflow.
  func allows(_ edit: FieldEdit, by device: DeviceID) -> Bool

  /// Applies the edit of a save. Without an edit, drops what the author observed.
  ///
  /// - Parameter observed: The store as the author observed it, or `nil` if the
  ///   author observed this store or a field of another kind.
  /// - Returns: The unobserved writes that the edit superseded, because no
  ///   timestamp is greater than theirs.
  mutating func apply(
    _ save: EditContext, observed: Self?
  ) -> [Siblings<Stamped>.Element]

  /// Returns the edit after which the store shows what another one shows after an
  /// edit, or `nil` if it shows that already.
  ///
  /// An edit that supersedes all also replaces what its author was not shown.
  func overwriting(
    with other: Self, after edit: FieldEdit?
  ) -> (edit: FieldEdit, supersedesAll: Bool)?

  // Reading.

  /// Whether the store has content that a re-creation of the record drops.
  var hasContent: Bool { get }

  /// The values that the store shows, for a field of another kind that replaces it, or
  /// `nil` if that field need not look here.
  ///
  /// A register that a write unset has none.
  var shownValues: [Value]? { get }

  /// Returns whether both stores show the same.
  func shows(sameAs other: Self) -> Bool

  /// Returns what the store shows where a part of another store may change it.
  ///
  /// The numbers can be compared before and after the change.
  func shown(in part: Self) -> [UInt64]

  /// Whether the store may contain a reference. A set is not searched for one.
  var mayContainReferences: Bool { get }

  /// Calls `body` with each value that can be a reference.
  func forEachValue(_ body: (Value) -> Void)

  // Saves and devices.

  /// Calls `body` with each save in the store, and the timestamp of its content.
  func forEachSave(_ body: (Dot, Timestamp?) -> Void)

  /// The saves that the store names beside those that its content is of.
  var namedSaves: [VectorClock.Entry] { get }

  /// The devices whose additions the store contains.
  var contributors: [DeviceID] { get }

  /// Returns whether a device has the same additions in another store, if both
  /// have the same saves of the device.
  func adds(sameAs other: Self, by device: DeviceID) -> Bool

  /// Returns the dots whose content differs between the stores.
  func equivocations(with other: Self) -> [Dot]

  // Bytes.

  /// Writes the store after ``FieldWriter/head(_:)``.
  func write(to writer: inout FieldWriter)

  /// Reads a store, which stays empty if the reader only validates.
  static func read(from reader: inout FieldReader) throws(WireError) -> Self

  // Fragments.

  /// Whether a part of the store can be sent.
  static var supportsFragments: Bool { get }

  /// The number of elements, devices or entries that can be sent in part.
  var size: Int { get }

  /// Whether a receiver has to take this part of a store as a whole.
  var isWhole: Bool { get }

  /// Returns the part that a receiver lacks, or `nil` if it needs the whole
  /// field.
  func part(_ missing: MissingPart) -> (store: Self, continued: Set<DeviceID>)?

  /// Returns the additions of some devices.
  func part(of devices: Set<DeviceID>) -> Self

  /// Joins the part of another store that is in a fragment. The content that the
  /// part lacks was not removed.
  mutating func merge(
    part: Self, of fragment: Fragment, seen: some DotSet,
    otherSeen: some DotSet)

  // Undo.

  /// Whether an undo takes each element of a field for itself.
  static var hasElements: Bool { get }

  /// Returns the elements that an edit of a set may change, or `nil` alone for a
  /// field that an edit changes as a whole.
  func elements(changedBy save: EditContext) -> [Value?]

  /// Returns the content that the undo of a save of a device needs.
  func undoContent(of element: Value?, by device: DeviceID) -> UndoContent

  /// Returns the opposites of the amounts that the device added after `sums`.
  func opposites(since sums: UndoSums) -> [LedgerEdit.Entry]

  /// Returns the edit that brings content back, or `nil` if the edit would overflow.
  func edit(restoring content: UndoRestoration, by device: DeviceID)
    -> FieldEdit?

  /// Traps in checked builds unless the invariants hold.
  func _checkInvariants()
}

// The defaults suit a store that replicas send as a whole. A dot identifies its
// content.
extension FieldStore {
  package static var mayOverflow: Bool { false }

  package func allows(_ edit: FieldEdit, by device: DeviceID) -> Bool { true }

  package var shownValues: [Value]? { nil }

  package var mayContainReferences: Bool { false }

  package func forEachValue(_ body: (Value) -> Void) {}

  package var namedSaves: [VectorClock.Entry] { [] }

  package var contributors: [DeviceID] { [] }

  package func adds(sameAs other: Self, by device: DeviceID) -> Bool { true }

  package static var supportsFragments: Bool { false }

  package var size: Int { 0 }

  package var isWhole: Bool { true }

  package func shown(in part: Self) -> [UInt64] { [] }

  package func part(
    _ missing: MissingPart
  ) -> (store: Self, continued: Set<DeviceID>)? { nil }

  package func part(of devices: Set<DeviceID>) -> Self { self }

  package mutating func merge(
    part: Self, of fragment: Fragment, seen: some DotSet,
    otherSeen: some DotSet
  ) {
    merge(part, seen: seen, otherSeen: otherSeen)
  }

  package static var hasElements: Bool { false }

  package func elements(changedBy save: EditContext) -> [Value?] { [nil] }

  package func opposites(since sums: UndoSums) -> [LedgerEdit.Entry] { [] }
}

/// The part of a field that a receiver lacks.
package struct MissingPart {
  /// The saves that the receiver has.
  let known: VectorClock
  /// The saves that the field has seen.
  let clock: VectorClock
  /// Whether the receiver has all saves that removed something without a trace.
  let hasRemovals: Bool
  /// Finds the elements of a set with a mark beyond `known`.
  let elements: () -> [Value]
}

extension FieldKind {
  /// Calls `body` with the store of the fields of this kind.
  ///
  /// The existential is made in each case, so that it costs nothing.
  @inline(__always)
  func withStore<Result>(_ body: (any FieldStore.Type) -> Result) -> Result {
    switch self {
    case .register: body(Siblings<Stamped>.self)
    case .counter: body(PNCounter.self)
    case .set: body(DotMap.self)
    case .ledger: body(Ledger.self)
    case .existence: body(ExistenceMarks.self)
    }
  }

  /// The store of the fields of this kind.
  package var store: any FieldStore.Type { withStore { $0 } }

  /// Whether a part of such a field can be sent.
  var supportsFragments: Bool { withStore { $0.supportsFragments } }

  /// Whether an edit of such a field may overflow.
  var mayOverflow: Bool { withStore { $0.mayOverflow } }
}
