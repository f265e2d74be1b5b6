// SPDX-License-Identifier: Apache-2.0

/// One thing that can happen to three devices and the messages that are kept.
enum ExplorerAction {
  /// A device makes one of the saves at one of the times.
  case save(Int, on: Int, at: Int)
  /// A device tells another what it lacks.
  case sync(from: Int, to: Int)
  /// A device sends another the first record with unseen changes.
  case part(from: Int, to: Int)
  /// A device writes down the first record with changes unseen by another.
  case writePart(on: Int, since: Int)
  /// A device writes down what it knows and another does not, or all it knows.
  case write(on: Int, since: Int?)
  /// A message arrives whole, or half of it does.
  case deliver(slot: Int, half: Int?, to: Int)

  /// Everything that can happen in a program.
  static func all(_ program: ExplorerProgram) -> [ExplorerAction] {
    var actions: [ExplorerAction] = []
    for i in 0..<3 {
      for save in program.saves.indices
      where program.savers[save].contains(i) {
        actions += program.times.indices.map { .save(save, on: i, at: $0) }
      }
      for j in 0..<3 where i != j {
        actions.append(.sync(from: i, to: j))
        if program.takesParts { actions.append(.part(from: i, to: j)) }
      }
    }
    for slot in 0..<program.keptMessages {
      for i in 0..<3 {
        for half in [nil, 0, 1] as [Int?] where program.splits || half == nil {
          actions.append(.deliver(slot: slot, half: half, to: i))
        }
      }
    }
    if program.keptMessages == 0 { return actions }
    for i in 0..<3 {
      for j in [nil, 0, 1, 2] as [Int?] where j != i {
        actions.append(.write(on: i, since: j))
        if program.takesParts, let j {
          actions.append(.writePart(on: i, since: j))
        }
      }
    }
    return actions
  }
}
