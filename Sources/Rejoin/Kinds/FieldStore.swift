// SPDX-License-Identifier: Apache-2.0

/// A dot store that can be the content of a field.
///
/// The protocol lists everything that a kind of field does. Code for all kinds
/// uses a ``FieldState`` or is generic.
package protocol FieldStore: DotStore {
  /// The kind of the fields that use this store.
  static var kind: FieldKind { get }

  /// Wraps the field in a box.
  static func boxed(_ field: consuming Causal<Self>) -> FieldState.Box

  /// Returns the field in a box, or `nil` for a field of another kind.
  static func unboxed(_ box: FieldState.Box) -> Causal<Self>?

  // Editing.

  /// Whether an edit may overflow, so a save must first call ``allows(_:by:)``.
  static var mayOverflow: Bool { get }

  /// Returns whether a save of a device can apply the edit without an overflow.
  func allows(_ edit: FieldEdit, by device: DeviceID) -> Bool

  /// Applies the edit of a save, or drops the observed content if the save has
  /// no edit of the field.
  ///
  /// - Parameter observed: The store that the author observed, or `nil` if the
  ///   author observed this store or a field of another kind.
  /// - Returns: The unobserved writes that the edit superseded because they
  ///   have the greatest timestamp.
  mutating func apply(
    _ save: EditContext, observed: Self?
  ) -> [Siblings<Stamped>.Element]

  /// Returns the edit that makes this store show what `other` shows after
  /// `edit`, or `nil` if it already does.
  ///
  /// If `supersedesAll` is `true`, the edit also replaces content that its
  /// author was not shown.
  func overwriting(
    with other: Self, after edit: FieldEdit?
  ) -> (edit: FieldEdit, supersedesAll: Bool)?

  // Reading.

  /// Whether the store has content that a re-creation of the record drops.
  var hasContent: Bool { get }

  /// The values to show in a newer field of another kind, or `nil` if that
  /// field can ignore this store.
  ///
  /// The array is empty for a register that a write unset.
  var shownValues: [Value]? { get }

  /// Returns whether both stores show the same content.
  func shows(sameAs other: Self) -> Bool

  /// Returns the content that the join of `part` may change.
  ///
  /// Results before and after the join differ exactly if the store does.
  func content(changedBy part: Self) -> Self

  /// Whether the store may contain a reference. Always `true` for a set.
  var mayContainReferences: Bool { get }

  /// Calls `body` with each value that can be a reference.
  func forEachValue(_ body: (Value) -> Void)

  // Saves and devices.

  /// Calls `body` with each save in the store and the timestamp of its content.
  func forEachSave(_ body: (Dot, Timestamp?) -> Void)

  /// The saves that the store names in addition to those of its content.
  var namedSaves: [VectorClock.Entry] { get }

  /// The devices whose additions the store contains.
  var contributors: [DeviceID] { get }

  /// Returns whether a device has the same additions in both stores, if both
  /// contain the same saves of the device.
  func adds(sameAs other: Self, by device: DeviceID) -> Bool

  /// Returns the dots with different content in the two stores.
  func equivocations(with other: Self) -> [Dot]

  // Bytes.

  /// Writes the store after ``FieldWriter/head(_:)``.
  func write(to writer: inout FieldWriter)

  /// Reads a store. If the reader only validates, the store stays empty.
  static func read(from reader: inout FieldReader) throws(WireError) -> Self

  /// An upper bound of the number of bytes that the store takes in a message.
  ///
  /// It includes the bytes of the saves and devices that the store refers to.
  var byteBound: Int { get }

  // Fragments.

  /// Whether replicas can send a part of the store.
  static var supportsFragments: Bool { get }

  /// The number of elements, devices or entries, for a store that replicas can
  /// send in parts.
  var size: Int { get }

  /// Whether a receiver must accept or refuse this part as a whole.
  var isWhole: Bool { get }

  /// Returns the part that a receiver lacks, or `nil` if it needs the whole
  /// field.
  func part(_ missing: MissingPart) -> (store: Self, continued: Set<DeviceID>)?

  /// Returns the additions of some devices.
  func part(of devices: Set<DeviceID>) -> Self

  /// Joins the part of another store in a fragment. Content outside the part
  /// was not removed.
  mutating func merge(
    part: Self, of fragment: Fragment, seen: some DotSet,
    otherSeen: some DotSet)

  // Undo.

  /// Whether undo treats each element of the field separately.
  static var hasElements: Bool { get }

  /// Returns the elements that an edit of a set may change. For other fields,
  /// returns an array with `nil`, which stands for the whole field.
  func elements(changedBy save: EditContext) -> [Value?]

  /// Returns the content that the undo of a device's save needs.
  func undoContent(of element: Value?, by device: DeviceID) -> UndoContent

  /// Returns the opposites of the amounts that the device added since `sums`.
  func opposites(since sums: UndoSums) -> [LedgerEdit.Entry]

  /// Returns the edit that restores content, or `nil` if it would overflow.
  func edit(restoring content: UndoRestoration, by device: DeviceID)
    -> FieldEdit?

  /// Traps in checked builds unless the invariants hold.
  func _checkInvariants()
}

// The defaults suit a store that replicas send as a whole and whose dots
// identify its content.
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

  package func content(changedBy part: Self) -> Self { self }

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
  /// Whether the receiver has every save that removed content without a trace.
  let receiverHasRemovals: Bool
  /// Finds the elements of a set that have a mark beyond `known`.
  let elements: () -> [Value]
}

extension FieldKind {
  /// Calls `body` with the store type of this kind.
  ///
  /// Each case creates its own existential, so the compiler can remove it.
  @inline(__always)
  func withStore<Result>(_ body: (any FieldStore.Type) -> Result) -> Result {
    switch self {
    case .register: body(Siblings<Stamped>.self)
    case .counter: body(PNCounter.self)
    case .set: body(ORSetStore.self)
    case .ledger: body(Ledger.self)
    case .existence: body(ExistenceMarks.self)
    }
  }

  /// The store type of this kind.
  package var store: any FieldStore.Type { withStore { $0 } }

  /// Whether replicas can send a part of a field of this kind.
  var supportsFragments: Bool { withStore { $0.supportsFragments } }

  /// Whether an edit of a field of this kind may overflow.
  var mayOverflow: Bool { withStore { $0.mayOverflow } }
}

/// Upper bounds of the numbers of bytes that parts of a field take in a message.
///
/// A record is encoded to find its exact size only if the sum of the bounds
/// exceeds the limit. The bounds can therefore be generous.
enum ByteBound {
  /// The head of a message, a key and the name of an entity.
  static let record = Limits.keyBytes + Limits.nameBytes + save

  /// A reference to a save, the save and its device.
  ///
  /// Each reference counts as if no other field referred to the save.
  static let save = 64

  /// The sums of a device in a counter or a ledger.
  static let sums = 128

  /// The name, the kind, the variant and the index of a field.
  static let field = 640

  /// An entry of a ledger.
  static func entry(memo: Value?) -> Int { 2 * save + memo.byteBound }
}

extension Value {
  /// An upper bound of the number of bytes that the value takes in a message.
  ///
  /// - Complexity: O(1).
  var byteBound: Int {
    switch self {
    case .string(let text): text.utf8.count + 10
    case .bytes(let content): content.count + 10
    case .reference(let id): id.entity.utf8.count + id.key.utf8.count + 20
    case .null, .bool, .int, .double, .date: 10
    }
  }
}

extension Value? {
  /// An upper bound of the number of bytes that the value takes in a message.
  var byteBound: Int { self?.byteBound ?? 1 }
}
