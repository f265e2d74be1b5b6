// SPDX-License-Identifier: Apache-2.0

/// The insertions and removals of a save, after an optional clear.
///
/// If an element changes several times, the last change counts.
public struct SetEdit: Hashable, Sendable {
  /// Whether the edit first removes every element.
  public internal(set) var isCleared = false
  /// The changed elements, each with whether it is inserted.
  public internal(set) var members: [Value: Bool] = [:]

  /// The elements of an older field that the first edit hides.
  ///
  /// The set showed them until then, so an undo keeps them in the set.
  package internal(set) var moved: Set<Value> = []

  /// Creates an edit without effect.
  public init() {}

  /// Creates an edit that inserts and removes the given elements.
  public init(inserting: [Value], removing: [Value] = []) {
    for element in inserting { members[element] = true }
    for element in removing { members[element] = false }
  }

  /// An edit that removes every element.
  public static var clearing: SetEdit {
    var edit = SetEdit()
    edit.isCleared = true
    return edit
  }

  /// Creates an edit that moves elements from an older field into the set.
  ///
  /// - Parameter dropped: Elements that the save drops together with the record
  ///   and that only its undo moves into the set.
  init(moving elements: [Value], dropping dropped: [Value]) {
    self.init(inserting: elements)
    moved = Set(elements + dropped)
  }

  /// Returns the sorted elements of a set after the edit, if its elements
  /// before the edit are `elements`.
  public func applied(to elements: [Value]) -> [Value] {
    var result = isCleared ? [] : Set(elements)
    for (element, isIn) in members {
      if isIn { result.insert(element) } else { result.remove(element) }
    }
    return result.sorted()
  }
}

extension SetEdit: KindEdit {
  var mayContainReferences: Bool { true }

  var removes: Bool { isCleared || members.values.contains(false) }

  var byteBound: Int {
    members.reduce(0) {
      $0 + ($1.value ? ByteBound.save + $1.key.byteBound : 0)
    }
  }

  var canonical: SetEdit {
    if members.keys.allSatisfy(\.isCanonical) { return self }
    var edit = self
    edit.members = Dictionary(
      uniqueKeysWithValues: members.map { ($0.canonical, $1) })
    return edit
  }

  mutating func append(_ later: SetEdit) -> Bool {
    if later.isCleared { (isCleared, members) = (true, [:]) }
    for (element, isIn) in later.members { members[element] = isIn }
    moved.formUnion(later.moved)
    return true
  }

  func add(to digest: inout Digest) {
    digest.add(isCleared ? 5 : 4)
    for (element, isIn) in members.sorted(byValue: { $0.key }) {
      digest.add(element)
      digest.add(isIn ? 1 : 0)
    }
  }
}
