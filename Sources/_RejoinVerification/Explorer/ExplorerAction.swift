// SPDX-License-Identifier: Apache-2.0

/// An action of one of three devices, or the arrival of a kept message.
enum ExplorerAction {
  /// A device makes one of the saves at one of the times.
  case save(Int, on: Int, at: Int)
  /// A device sends another device the changes that it lacks.
  case sync(from: Int, to: Int)
  /// A device sends another device the first record with unseen changes.
  case part(from: Int, to: Int)
  /// A device keeps a message with the first record that another device must
  /// update.
  case writePart(on: Int, since: Int)
  /// A device keeps a message with the changes that another device lacks, or
  /// with all changes.
  case write(on: Int, since: Int?)
  /// A kept message arrives, as a whole or as one of its halves.
  case deliver(slot: Int, half: Int?, to: Int)

  /// Returns every action that a program allows.
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
