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
      // A sum, since the elements have no order.
      add(
        edit.members.reduce(0) { sum, member in
          var digest = Digest(seed: member.value ? 1 : 0)
          digest.add(member.key)
          return sum &+ digest.value
        })
    case .append(let edit):
      add(edit.isCancelled ? 7 : 6)
      for entry in edit.entries {
        add(UInt64(bitPattern: entry.amount))
        add(entry.memo)
      }
    }
  }
}
