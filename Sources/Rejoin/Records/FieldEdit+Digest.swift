// SPDX-License-Identifier: Apache-2.0

extension Digest {
  package mutating func add(_ edit: FieldEdit) {
    switch edit {
    case .write(let value):
      add(1)
      add(value)
    case .count(let edit):
      add(edit.isReset ? 3 : 2)
      add(edit.increments)
      add(edit.decrements)
    case .members(let edit):
      add(edit.isCleared ? 5 : 4)
      for (element, isIn) in edit.members.sorted(byValue: { $0.key }) {
        add(element)
        add(isIn ? 1 : 0)
      }
    case .append(let edit):
      add(edit.isCancelled ? 7 : 6)
      for entry in edit.entries {
        add(UInt64(bitPattern: entry.amount))
        add(entry.memo)
      }
    }
  }
}
