// SPDX-License-Identifier: Apache-2.0

extension Digest {
  mutating func add(_ retraction: Retraction) {
    add(8)
    if let dot = retraction.dot { add(dot) }
    if let time = retraction.time { add(time.rawValue) }
    for (element, dot) in retraction.elements.sorted(byValue: { $0.key }) {
      add(element)
      add(dot)
    }
  }

  mutating func add(_ clock: VectorClock) {
    for entry in clock.entries { add(Dot(entry.device, entry.count)) }
  }

  private mutating func add(_ dot: Dot) {
    add(dot.device.high)
    add(dot.device.low)
    add(dot.sequence)
  }

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
