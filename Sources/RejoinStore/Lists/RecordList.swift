// SPDX-License-Identifier: Apache-2.0

import Observation
import Rejoin

/// The records of an entity that meet a condition, sorted, as long as the list
/// exists.
///
///     let open = RecordList(
///       store, of: Item.self, where: { $0.isDone != true }, sortedBy: \.position)
///     open.elements  // [TypedRecord<Item>]
///
/// A view that reads ``elements`` changes with them. The list loads the records
/// soon after it was created, and then follows every change of the store: saves,
/// deltas from other devices, undo and purges. It also follows references, which
/// read as `nil` while their record does not exist. The list stops when it is
/// released. It does not keep the store, so the app must hold the store as well.
///
/// Texts are sorted by their Unicode scalars, and other values in the order of
/// their type if it is `Comparable`. Records without a value come last, and those
/// with equal values are sorted by key. Pass a comparison to sort texts as the
/// user's language does. The comparison also decides where records without a value
/// come.
///
/// The condition and the comparison must depend only on the record. For another
/// condition, such as a new search text, create another list, and show the former
/// one until ``isLoaded`` is true. Create a list in a model, and not in the body or
/// the initializer of a view, which SwiftUI calls often.
@MainActor @Observable
public final class RecordList<Owner: Entity> {
  @ObservationIgnored private var content: ListContent<Owner>
  @ObservationIgnored private var following: Following?
  /// The store of the records, which the app keeps.
  @ObservationIgnored private(set) weak var store: ReplicaStore?

  /// Whether the first elements were loaded.
  public private(set) var isLoaded = false

  /// The reason why the store can no longer change, or `nil`.
  ///
  /// The elements are then the last ones.
  public private(set) var failure: StoreError?

  /// The records, in the order of the list.
  public var elements: [TypedRecord<Owner>] {
    access(keyPath: \.elements)
    return content.elements
  }

  /// A section of a list.
  public struct Section: Identifiable, Sendable {
    /// The stored form of the value that the records of the section have in
    /// common, or `nil` if the field is unset.
    public let id: Value?
    /// The records of the section, at least one.
    public let elements: ArraySlice<TypedRecord<Owner>>
  }

  /// The records in sections, or one section with `nil` for a list without
  /// sections.
  ///
  ///     ForEach(list.sections) { section in
  ///       Section(section.elements.first?.aisle?.rawValue ?? "Other") {
  ///         ForEach(section.elements) { Text($0.title ?? "") }
  ///       }
  ///     }
  ///
  /// - Complexity: O(*s* log *n*), where *s* is the number of sections and *n* that
  ///   of records.
  public var sections: [Section] {
    let elements = elements
    return content.sections().map {
      Section(id: $0.value, elements: elements[$0.range])
    }
  }

  private init(
    _ store: ReplicaStore,
    _ isIncluded: @escaping @Sendable (TypedRecord<Owner>) -> Bool,
    _ order: ListOrder<Owner>
  ) {
    content = ListContent(isIncluded, order)
    self.store = store
    following = Following(
      Task { [weak self, weak store, content] in
        guard
          let (records, changes) = await store?.observedRecords(of: Owner.self)
        else { return }
        let loaded = await content.loaded(records)
        self?.show(loaded)
        do throws(StoreError) {
          for try await next in changes {
            guard let self else { return }
            self.apply(next)
          }
        } catch { self?.failure = error }
      })
  }

  private func show(_ loaded: ListContent<Owner>) {
    withMutation(keyPath: \.elements) { content = loaded }
    isLoaded = true
  }

  private func apply(_ changes: RecordChanges) {
    let changes = changes.changes(to: Owner.self)
    // A change of another entity's records must not update views.
    if changes.isEmpty { return }
    withMutation(keyPath: \.elements) { content.apply(changes) }
  }
}

// Creating lists.
extension RecordList {
  /// Creates a list that is sorted by key.
  ///
  /// - Parameters:
  ///   - store: The store, whose schema declares the entity.
  ///   - entity: The entity of the records.
  ///   - isIncluded: The condition of the records. The default includes all.
  public convenience init(
    _ store: ReplicaStore, of entity: Owner.Type,
    where isIncluded: @escaping @Sendable (TypedRecord<Owner>) -> Bool = { _ in
      true
    }
  ) {
    self.init(store, isIncluded, ListOrder())
  }

  /// Creates a list that is sorted by a register.
  ///
  /// - Parameters:
  ///   - store: The store, whose schema declares the entity.
  ///   - entity: The entity of the records.
  ///   - isIncluded: The condition of the records. The default includes all.
  ///   - field: The field.
  ///   - order: The direction. Records without a value are last in both.
  public convenience init<Kind: FieldType>(
    _ store: ReplicaStore, of entity: Owner.Type,
    where isIncluded: @escaping @Sendable (TypedRecord<Owner>) -> Bool = { _ in
      true
    },
    sortedBy field: KeyPath<Owner, Field<Owner, Kind>>,
    order: SortOrder = .forward
  ) where Kind.Reading == Kind.Element? {
    self.init(store, isIncluded, ListOrder(by: field, order))
  }

  /// Creates a list that is sorted by a counter or a ledger.
  ///
  /// - Parameters:
  ///   - store: The store, whose schema declares the entity.
  ///   - entity: The entity of the records.
  ///   - isIncluded: The condition of the records. The default includes all.
  ///   - field: The field.
  ///   - order: The direction.
  public convenience init<Kind: FieldType>(
    _ store: ReplicaStore, of entity: Owner.Type,
    where isIncluded: @escaping @Sendable (TypedRecord<Owner>) -> Bool = { _ in
      true
    },
    sortedBy field: KeyPath<Owner, Field<Owner, Kind>>,
    order: SortOrder = .forward
  ) where Kind.Reading == Kind.Element {
    self.init(store, isIncluded, ListOrder(by: field, order))
  }

  /// Creates a list that is sorted by a comparison.
  ///
  /// - Parameters:
  ///   - store: The store, whose schema declares the entity.
  ///   - entity: The entity of the records.
  ///   - isIncluded: The condition of the records. The default includes all.
  ///   - areInIncreasingOrder: A strict weak order, as for `sort(by:)`.
  public convenience init(
    _ store: ReplicaStore, of entity: Owner.Type,
    where isIncluded: @escaping @Sendable (TypedRecord<Owner>) -> Bool = { _ in
      true
    },
    sortedBy areInIncreasingOrder:
      @escaping @Sendable (
        TypedRecord<Owner>, TypedRecord<Owner>
      ) -> Bool
  ) {
    self.init(store, isIncluded, ListOrder(by: areInIncreasingOrder))
  }

  /// Creates a list whose sections are sorted by a register.
  ///
  ///     let items = RecordList(
  ///       store, of: Item.self, sectionedBy: \.aisle, sortedBy: \.title)
  ///
  /// - Parameters:
  ///   - store: The store, whose schema declares the entity.
  ///   - entity: The entity of the records.
  ///   - isIncluded: The condition of the records. The default includes all.
  ///   - section: The field whose values the records of a section have in common.
  ///     The sections are sorted by it.
  ///   - field: The field by which each section is sorted.
  ///   - order: The direction in each section.
  public convenience init<V: FieldValue, Kind: FieldType>(
    _ store: ReplicaStore, of entity: Owner.Type,
    where isIncluded: @escaping @Sendable (TypedRecord<Owner>) -> Bool = { _ in
      true
    },
    sectionedBy section: KeyPath<Owner, Field<Owner, MVRegister<V>>>,
    sortedBy field: KeyPath<Owner, Field<Owner, Kind>>,
    order: SortOrder = .forward
  ) where Kind.Reading == Kind.Element? {
    self.init(
      store, isIncluded, ListOrder(by: field, order).sectioned(by: section))
  }

  /// Creates a list whose sections are sorted by a counter or a ledger.
  ///
  ///     let items = RecordList(
  ///       store, of: Item.self, sectionedBy: \.aisle, sortedBy: \.amount)
  ///
  /// - Parameters:
  ///   - store: The store, whose schema declares the entity.
  ///   - entity: The entity of the records.
  ///   - isIncluded: The condition of the records. The default includes all.
  ///   - section: The field whose values the records of a section have in common.
  ///     The sections are sorted by it.
  ///   - field: The field by which each section is sorted.
  ///   - order: The direction in each section.
  public convenience init<V: FieldValue, Kind: FieldType>(
    _ store: ReplicaStore, of entity: Owner.Type,
    where isIncluded: @escaping @Sendable (TypedRecord<Owner>) -> Bool = { _ in
      true
    },
    sectionedBy section: KeyPath<Owner, Field<Owner, MVRegister<V>>>,
    sortedBy field: KeyPath<Owner, Field<Owner, Kind>>,
    order: SortOrder = .forward
  ) where Kind.Reading == Kind.Element {
    self.init(
      store, isIncluded, ListOrder(by: field, order).sectioned(by: section))
  }

  /// Creates a list whose sections are sorted by a comparison.
  ///
  /// - Parameters:
  ///   - store: The store, whose schema declares the entity.
  ///   - entity: The entity of the records.
  ///   - isIncluded: The condition of the records. The default includes all.
  ///   - section: The field whose values the records of a section have in common.
  ///     The sections are sorted by it.
  ///   - areInIncreasingOrder: A strict weak order, as for `sort(by:)`.
  public convenience init<V: FieldValue>(
    _ store: ReplicaStore, of entity: Owner.Type,
    where isIncluded: @escaping @Sendable (TypedRecord<Owner>) -> Bool = { _ in
      true
    },
    sectionedBy section: KeyPath<Owner, Field<Owner, MVRegister<V>>>,
    sortedBy areInIncreasingOrder:
      @escaping @Sendable (
        TypedRecord<Owner>, TypedRecord<Owner>
      ) -> Bool
  ) {
    self.init(
      store, isIncluded,
      ListOrder(by: areInIncreasingOrder).sectioned(by: section))
  }
}

extension ReplicaStore {
  /// Returns the records of an entity, sorted by key, and their later changes.
  fileprivate func observedRecords<E: Entity>(
    of entity: E.Type
  ) -> ([TypedRecord<E>], ObservedChanges) {
    // The store runs one call at a time, so no change can happen in between.
    (read { $0.records(of: entity) }, ObservedChanges(observers))
  }
}

extension ListContent {
  /// Returns the content with the given records of the entity, sorted by key.
  ///
  /// It runs apart from the main actor.
  nonisolated fileprivate func loaded(_ records: [Element]) async -> ListContent
  {
    var content = self
    content.load(records)
    return content
  }
}

/// A task that is canceled with the last reference.
private final class Following: Sendable {
  private let task: Task<Void, Never>

  init(_ task: Task<Void, Never>) { self.task = task }

  deinit { task.cancel() }
}
