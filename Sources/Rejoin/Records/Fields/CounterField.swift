// SPDX-License-Identifier: Apache-2.0

extension Entity {
  /// Declares a counter.
  public static func counter(_ name: String) -> Field<Self, PNCounter> {
    Field(name)
  }
}

extension PNCounter: FieldType {
  public typealias Element = Int64

  /// Returns the value of the counter.
  @inlinable
  public static func read<Owner>(
    _ field: Field<Owner, Self>, of record: Record
  ) -> Int64 {
    record.count(of: field.key)
  }

  public static func read<Owner>(
    _ field: Field<Owner, Self>, in record: RecordEditor<Owner>
  ) -> Int64 {
    record.handle(field).edited.count
  }

  public static func showsSame<Owner>(
    _ field: Field<Owner, Self>, in a: Record, _ b: Record
  ) -> Bool {
    read(field, of: a) == read(field, of: b)
  }

  @inlinable
  public static func editor<Owner>(
    of field: Field<Owner, Self>, in record: RecordEditor<Owner>
  ) -> CounterEditor {
    CounterEditor(field: record.handle(field))
  }
}

/// An editor of a counter within a save or an editing context.
public struct CounterEditor {
  let field: FieldHandle

  @usableFromInline init(field: FieldHandle) { self.field = field }

  /// The value after the edits so far.
  public var value: Int64 { field.edited.count }

  /// Increments the counter by `amount`, which may be negative.
  ///
  /// On overflow, the save throws ``SaveError/counterOverflow(_:field:)``, or
  /// the editing context reports it.
  public func increment(by amount: Int64 = 1) {
    field.perform(.count(CounterEdit(by: amount)))
  }

  /// Decrements the counter by `amount`, which may be negative.
  ///
  /// On overflow, the save throws ``SaveError/counterOverflow(_:field:)``, or
  /// the editing context reports it.
  public func decrement(by amount: Int64 = 1) {
    field.perform(.count(CounterEdit(by: amount).opposite))
  }

  /// Cancels the increments and decrements that this replica has seen.
  ///
  /// Concurrent changes survive.
  public func reset() { set(to: 0) }

  /// Resets the counter and increments it by `value`, in one save.
  ///
  /// If two devices count 10 pieces and both set 10 before they sync, the
  /// counter shows 20. For a stocktaking, use a register, or add the difference
  /// between the count and the shown value.
  public func set(to value: Int64) {
    field.perform(.count(CounterEdit(by: value, isReset: true)))
  }
}

extension EditedField {
  /// The value of a counter.
  package var count: Int64 {
    if case .count(let edit) = edit { return edit.applied(to: stored.count) }
    return stored.count
  }
}

extension Record {
  /// The value of a counter, or zero for another kind of field.
  public func count(of key: FieldKey) -> Int64 { self[key].count }

  /// Returns each device's sum of changes to a counter, without changes that a
  /// reset canceled.
  ///
  /// Together, the sums are the counter's value before it is clamped to
  /// `Int64`.
  public func amounts(of key: FieldKey) -> [DeviceID: WideInt] {
    self[key].store(of: PNCounter.self)?.amounts ?? [:]
  }
}

extension TypedRecord {
  /// Returns each device's sum of changes, without changes that a reset
  /// canceled.
  public func amounts(
    of field: KeyPath<Owner, Field<Owner, PNCounter>>
  ) -> [DeviceID: WideInt] {
    record.amounts(of: fields[field].key)
  }
}
