//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//
import Rejoin

extension ExplorerProgram {
  static let a = RecordID("Note", "a")
  static let b = RecordID("Note", "b")
  static let name = FieldKey("name", .register)

  static func universe(
    _ fields: FieldKey..., deletion: DeletionRule = .updateWins
  ) -> ScriptUniverse {
    ScriptUniverse(
      schema: Schema(["Note": .init(fields: Set(fields), deletion: deletion)]),
      records: [a, b], fields: fields)
  }

  /// Registers.
  public static let registers = ExplorerProgram(
    "registers", universe: universe(name),
    saves: [
      [.edit(a, name, .write(.int(1))), .edit(b, name, .write(.int(1)))],
      [.edit(a, name, .write(.int(2)))],
      [.edit(b, name, .write(.int(3)))],
    ])
}
