// SPDX-License-Identifier: Apache-2.0

import Rejoin

extension Delta {
  /// Splits the delta into parts with nearly equal numbers of fields.
  ///
  /// A part has no intervals, because it may contain only some effects of a
  /// save. Applying it updates its fields, but does not advance the version.
  ///
  /// - Precondition: `count` is positive.
  package func split(into count: Int) -> [Delta] {
    precondition(
      count > 0, "cannot split a delta into \(count) parts: expected 1 or more")
    let fields = changes.flatMap { change in
      (Array(change.fields.keys) + change.fragments.keys).sorted()
        .map { (change, $0) }
    }
    return (0..<count).map { i in
      let part = fields[
        (i * fields.count / count)..<((i + 1) * fields.count / count)]
      let records = Dictionary(grouping: part) { $0.0.id }
      return Delta(
        records.map { id, fields in
          let (change, keys) = (fields[0].0, Set(fields.map(\.1)))
          return Change(
            id: id, fields: change.fields.filter { keys.contains($0.key) },
            fragments: change.fragments.filter { keys.contains($0.key) })
        })
    }
  }
}
