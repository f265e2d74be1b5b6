// SPDX-License-Identifier: Apache-2.0

import Rejoin
import _RejoinVerification

extension Script {
  /// Creates the script that the bytes choose, of at most forty steps.
  init(choosing bytes: [UInt8]) {
    var source = ByteSource(bytes)
    let options = source.byte()
    self.init(deviceCount: 2 + Int(options % 3))
    for i in 0..<deviceCount {
      steps.append(.setClock(of: i, to: source.time()))
    }
    while !source.isEmpty, steps.count < 40 { steps.append(source.step()) }
  }
}

extension ByteSource {
  /// A wall-clock time: most are close to each other, some far away.
  fileprivate mutating func time() -> Int64 {
    pick([
      1_000_000, 1_000_001, 4_600_000, 100_000_000, 0, -1, .min, 1 << 40,
    ])
  }

  /// A device.
  ///
  /// Some numbers belong to forks, or to no device.
  private mutating func device() -> Int { below(5) }

  private mutating func number() -> Int { below(6) }

  private mutating func record() -> RecordID {
    pick(ScriptUniverse.standard.records)
  }

  fileprivate mutating func step() -> ScriptStep {
    switch below(46) {
    case 0..<12: .save(on: device(), verbs())
    case 12..<16: .sync(from: device(), to: device())
    case 16..<18: .write(on: device(), since: device(), message: number())
    case 18: .write(on: device(), since: nil, message: number())
    case 19: .split(message: number(), into: number(), number())
    case 20, 21: .deliver(message: number(), to: device())
    case 22: .merge(from: device(), into: device())
    case 23: .backUp(device(), as: number())
    case 24: .restore(device(), from: number(), with: .lost)
    case 25: .reopen(device())
    case 26: .setClock(of: device(), to: time())
    case 27: .purge(device())
    case 28: .fold(device())
    case 29: .fork(below(2))
    case 30: .fetch(on: device(), record(), context: number())
    case 31: .bringIn(on: device(), rows(ScriptUniverse.standard.fields))
    case 32, 33:
      .pull(
        on: device(), from: pick(["S", "T"]), at: time(), rows(registers))
    case 34, 35: .retire(on: device(), device())
    case 36: .storeToken(device())
    case 37: .restore(device(), from: number(), with: pick([.last, .fitting]))
    case 38: .discard(context: number(), with: company())
    case 39: .save(on: device(), [.undelete(record())])
    case 40, 41: .undo(on: device(), again: flag())
    case 42, 43:
      .writePart(
        on: device(), since: device(), byteLimit: pick([1, 100]),
        message: number())
    case 44:
      .call(
        from: device(), to: device(), byteLimit: pick([1, 100]),
        messages: flag() ? number() : nil)
    default: .commit(context: number(), edits(), with: company())
    }
  }

  private mutating func company() -> ScriptCompany {
    switch below(4) {
    case 0: ScriptCompany(before: verbs())
    case 1: ScriptCompany(after: verbs())
    default: ScriptCompany()
    }
  }

  mutating func verbs() -> [ScriptVerb] {
    (0...below(3)).map { _ in
      switch below(12) {
      case 0: .touch(record())
      case 1, 2: .delete(record())
      case 3: .undelete(record())
      default: verb(ScriptUniverse.standard.fields)
      }
    }
  }

  /// The fields that rows of a server can have.
  private var registers: [FieldKey] {
    ScriptUniverse.standard.fields.filter { $0.kind == .register }
  }

  private mutating func rows(_ fields: [FieldKey]) -> [ScriptVerb] {
    (0...below(3)).map { _ in
      below(8) == 0 ? .touch(record()) : edit(fields)
    }
  }

  private mutating func verb(_ fields: [FieldKey]) -> ScriptVerb {
    let verb = edit(fields)
    guard case .edit(let id, let key, let edit) = verb else { return verb }
    return move(id, key, instead: edit) ?? verb
  }

  private mutating func edit(_ fields: [FieldKey]) -> ScriptVerb {
    let (id, key) = (record(), pick(fields))
    return .edit(id, key, key.kind.edit(choosing: &self))
  }

  /// Returns a move instead of some writes to quiet registers, without a choice.
  private func move(
    _ id: RecordID, _ key: FieldKey, instead edit: FieldEdit
  ) -> ScriptVerb? {
    guard ScriptUniverse.standard.schema[id.entity].quietFields.contains(key)
    else { return nil }
    let records = ScriptUniverse.standard.records
    return switch edit {
    case .write(.int(0)): .move(id, key, after: records[0], before: nil)
    case .write(.int(1)): .move(id, key, after: nil, before: records[1])
    case .write(.bool): .move(id, key, after: records[2], before: records[0])
    default: nil
    }
  }

  private mutating func edits() -> [FieldKey: FieldEdit] {
    var edits: [FieldKey: FieldEdit] = [:]
    for _ in 0...below(2) {
      let key = pick(ScriptUniverse.standard.fields)
      edits[key] = key.kind.edit(choosing: &self)
    }
    return edits
  }
}
