// SPDX-License-Identifier: Apache-2.0

extension Transaction {
  /// Creates a position between two others, or at an end of a list.
  ///
  ///     try phone.save { transaction in
  ///       let milk = transaction[Item.self, "milk"].position
  ///       let salt = transaction[Item.self, "salt"].position
  ///       transaction[Item.self, "bread"].position =
  ///         transaction.position(between: milk, and: salt)
  ///     }
  ///
  /// Pass the positions of the items on both sides of the gap, without the item that
  /// moves, and `nil` only at an end of the list. To insert a run of items, pass the new
  /// position of each as the left one of the next. If `right` is not greater than `left`,
  /// it is ignored, and the result is somewhere behind `left`.
  ///
  /// If the position would have more than ``Position/byteLimit`` bytes, the save throws
  /// ``SaveError/positionTooLong``.
  ///
  /// Write the position in the same save. If the save writes nothing or throws, a later
  /// one makes the position again. In an import, it depends only on its neighbors and on
  /// how many the call made before, so that all devices make the same one.
  ///
  /// - Parameters:
  ///   - left: The position before, or `nil` at the start.
  ///   - right: The position behind, or `nil` at the end.
  /// - Returns: A position that no other save makes, on any device.
  /// - Complexity: O(*n*), where *n* is the length of the longer position.
  public func position(
    between left: Position?, and right: Position?
  ) -> Position {
    var origin = originOfPositions ?? newOrigin()
    let position = origin.next(after: left, before: right)
    originOfPositions = origin
    if position.bytes.count > Position.byteLimit {
      fail(.positionTooLong)
      // The save is refused, and later positions of it do not grow.
      return left ?? right ?? position
    }
    return position
  }

  func newOrigin() -> Position.Origin {
    var device = replica.current.device
    do { device = try replica.deviceToSave(self) } catch { fail(error) }
    let last = replica.current.version[device].sequence
    // A position has room for fewer numbers than a save.
    if last >= Position.lastSave { fail(.numbersExhausted(device)) }
    return Position.Origin(
      Dot(device, min(last, Position.lastSave - 1) + 1))
  }

  /// A field that is declared with `lww(_:of:)` of type ``Position``.
  public typealias PositionField<E: Entity> =
    KeyPath<E, Field<E, MVRegister<Position>>>

  /// Moves records of a list between two others.
  ///
  ///     try phone.save { transaction in
  ///       transaction.move(
  ///         ["bread", "salt"], by: \Item.position, between: "milk", and: "tea")
  ///     }
  ///
  /// The records stay together in the given order, even if other devices move others to
  /// the same place. Records that do not exist are left out. If `right` is not behind
  /// `left`, for example because it was moved, it is ignored. If `left` was deleted, the
  /// records move to the place where it was. Records without a position come last, sorted
  /// by their keys. If `left` is one of them, it and those before it get positions, too.
  ///
  /// - Parameters:
  ///   - keys: The keys of the records, in the order that they get.
  ///   - field: The field with their positions.
  ///   - left: The key of the record before, or `nil` at the start of the list.
  ///   - right: The key of the record behind, or `nil` at the end of the list.
  /// - Complexity: O(*k*), where *k* is the number of moved records, or O(*n* log *n*)
  ///   for *n* records of the entity if `left` has no position.
  public func move<E: Entity>(
    _ keys: [String], by field: PositionField<E>,
    between left: String?, and right: String?
  ) {
    let declared = E()[keyPath: field]
    func position(_ key: String) -> Position? {
      if let record = existing(E.self, key) { return record.read(field) }
      return hiddenPosition(declared, of: RecordID(E.entityName, key))
    }
    guard let left, position(left) == nil else {
      return move(
        keys, by: declared, between: left.flatMap(position),
        and: right.flatMap(position))
    }
    let place = RecordID(E.entityName, left)
    let moved = Set(keys)
    let edited = pending.entries.lazy.map(\.key)
      .filter { $0.entity == E.entityName }
    let all = Set(replica.recordIDs(of: E.entityName)).union(edited)
    var (last, unplaced) = (Position?.none, [RecordID]())
    for id in all {
      guard let record = existing(E.self, id.key) else { continue }
      if let position = record.read(field) {
        last = max(last ?? position, position)
      } else if id <= place, !moved.contains(id.key) {
        unplaced.append(id)
      }
    }
    move(
      unplaced.sorted().map(\.key) + keys, by: declared, between: last,
      and: nil)
  }

  /// The position of a record that was deleted, or `nil` if it had none.
  private func hiddenPosition<E: Entity>(
    _ field: Field<E, MVRegister<Position>>, of id: RecordID
  ) -> Position? {
    for key in [field.key] + field.versions.olderKeys {
      guard let value = hidden(key, of: id).value,
        let position = field.versions.element(value, of: key)
      else { continue }
      return position
    }
    return nil
  }

  package func place(
    _ key: FieldKey, of id: RecordID, between left: Position?,
    and right: Position?
  ) {
    let position = position(between: left, and: right)
    apply(.write(position.fieldValue), to: key, of: id)
  }

  /// Moves records of a list between two positions.
  package func move<E: Entity>(
    _ keys: [String], by field: Field<E, MVRegister<Position>>,
    between left: Position?, and right: Position?
  ) {
    var last = left
    for key in keys where existing(E.self, key) != nil {
      let next = position(between: last, and: right)
      let id = RecordID(E.entityName, key)
      apply(.write(next.fieldValue), to: field.key, of: id)
      last = next
    }
  }

  /// Gives all records of a list new, short positions.
  ///
  /// Call it after ``SaveError/positionTooLong``. If another device moves a record at the
  /// same time, the later of both counts. After a later move, the record can be anywhere
  /// in the list, so do not call this regularly.
  ///
  /// - Parameters:
  ///   - keys: The keys of all records, in the order of the list.
  ///   - field: The field with their positions.
  public func rebalance<E: Entity>(
    _ keys: [String], by field: PositionField<E>
  ) {
    move(keys, by: E()[keyPath: field], between: nil, and: nil)
  }
}
