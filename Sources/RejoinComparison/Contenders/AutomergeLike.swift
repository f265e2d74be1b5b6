// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// A model of Automerge's rules: maps of multi-value registers and counters.
///
/// Automerge itself was not run. An operation supersedes the operations that
/// its author had seen. If a register has several values, the value of the
/// greatest operation is shown, and the others are listed. An increment belongs
/// to the counter that its author had seen, and disappears with it. A set is a
/// map of its elements. A deletion of the record also deletes everything
/// written in the record, seen or unseen. Creating the record again creates a
/// new map.
struct AutomergeLike: Contender {
  let name = "automergeLike"
  let rule =
    "model of automerge: an operation supersedes those seen, and a deletion takes "
    + "the whole map"
  let source = Source.model(
    "automerge.org/docs/reference/under-the-hood/merge-rules")

  func outcome(of episode: Episode) -> Outcome {
    let uploads = Dictionary(grouping: episode.uploads, by: \.device)
    let base = MapDocument(base: episode)
    var merged = base
    for device in episode.devices {
      var copy = base
      for upload in uploads[device] ?? [] {
        copy.execute(upload.edit, of: episode)
      }
      merged.merge(copy)
    }
    return merged.outcome(of: episode)
  }
}

/// Operations on a record and its fields.
private struct MapDocument {
  /// The operation that created a value or an object: a Lamport clock and a
  /// device.
  struct ID: Hashable, Comparable {
    var count = 0
    var device = ""

    static func < (a: ID, b: ID) -> Bool {
      (a.count, a.device) < (b.count, b.device)
    }
  }

  /// A field of a record, or an element of a set in the record.
  struct Key: Hashable {
    let object: ID
    let field: String
    var element: Value?
  }

  private var objects: Set<ID> = []
  private var values: [Key: [ID: Content]] = [:]
  private var superseded: Set<ID> = []
  private var amounts: [ID: [String: Int64]] = [:]
  private var count = 0

  init(base episode: Episode) {
    guard let base = episode.base else { return }
    let object = next("")
    objects.insert(object)
    for (field, content) in base.sortedByKey {
      write(content, field, object, "")
    }
  }

  private mutating func next(_ device: String) -> ID {
    count += 1
    return ID(count: count, device: device)
  }

  /// The existing objects, sorted so that the shown one is last.
  private var present: [ID] { objects.subtracting(superseded).sorted() }

  private func present(_ key: Key) -> [(id: ID, content: Content)] {
    (values[key] ?? [:]).filter { !superseded.contains($0.key) }
      .sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  private func keys(_ field: String, _ object: ID) -> [Key] {
    values.keys.filter { $0.object == object && $0.field == field }
  }

  /// Deletes keys, with one operation for each.
  private mutating func drop(_ keys: [Key]) {
    for key in keys {
      let present = present(key).map(\.id)
      superseded.formUnion(present)
      if !present.isEmpty { count += 1 }
    }
  }

  private mutating func put(_ content: Content, _ key: Key, _ device: String) {
    // Don't write a value again if it is the only one.
    if present(key).map(\.content) == [content] { return }
    superseded.formUnion(present(key).map(\.id))
    values[key, default: [:]][next(device)] = content
  }

  private mutating func write(
    _ content: Content, _ field: String, _ object: ID, _ device: String
  ) {
    guard case .elements(let elements) = content else {
      return put(content, Key(object: object, field: field), device)
    }
    for element in elements.sorted() {
      put(content, Key(object: object, field: field, element: element), device)
    }
  }

  mutating func execute(_ edit: Episode.Edit, of episode: Episode) {
    let device = edit.device
    if edit.isDeletion {
      count += 1
      return superseded.formUnion(present)
    }
    let object = present.last ?? next(device)
    objects.insert(object)
    for field in edit.clear.sorted() { drop(keys(field, object)) }
    for (field, value) in edit.set.sortedByKey {
      var content = Content.value(value)
      if episode.kind(of: field) == .counter, case .int(let number) = value {
        content = .count(number)
      }
      write(content, field, object, device)
    }
    for (field, elements) in edit.remove.sortedByKey {
      drop(elements.map { Key(object: object, field: field, element: $0) })
    }
    for (field, elements) in edit.insert.sortedByKey {
      write(.elements(Set(elements)), field, object, device)
    }
    for (field, amount) in edit.increment.sortedByKey {
      let key = Key(object: object, field: field)
      if let counter = present(key).last {
        let sum = amounts[counter.id]?[device] ?? 0
        amounts[counter.id, default: [:]][device] = sum.addingClamped(amount)
      } else {
        put(.count(amount), key, device)
      }
    }
  }

  mutating func merge(_ other: MapDocument) {
    objects.formUnion(other.objects)
    superseded.formUnion(other.superseded)
    values.merge(other.values) { $0.merging($1) { mine, _ in mine } }
    amounts.merge(other.amounts) { $0.merging($1) { mine, _ in mine } }
  }

  func outcome(of episode: Episode) -> Outcome {
    var kept: [String: Set<Content?>] = [:]
    var record: PlainRecord = [:]
    let objects = present
    let shown = objects.last
    for key in values.keys where objects.contains(key.object) {
      for (id, content) in present(key) {
        switch (content, key.element) {
        case (.value, _):
          kept[key.field, default: []].insert(content)
          if key.object == shown { record[key.field] = content }
        case (.count(let number), _):
          guard key.object == shown else { break }
          let total = (amounts[id] ?? [:]).values
            .reduce(Int64(0)) { $0.addingClamped($1) }
          record[key.field] = .count(number.addingClamped(total))
        case (.elements, let element):
          guard key.object == shown, let element else { break }
          record[key.field] = .elements(
            record.elements(key.field).union([element]))
        }
      }
    }
    return Outcome(everywhere: shown.map { _ in record }, kept: kept)
  }
}
