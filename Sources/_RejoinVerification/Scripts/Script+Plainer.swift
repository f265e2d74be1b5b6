// SPDX-License-Identifier: Apache-2.0
import Rejoin

// Simplified scripts: their steps depend on fewer other steps, and they have
// fewer devices.
extension Script {
  /// The scripts that result from simplifying one step, for every such step.
  var plainer: [Script] {
    var authors: [Int: Int] = [:]
    var contexts: [Int: (on: Int, id: RecordID)] = [:]
    var result: [Script] = []
    for (index, step) in steps.enumerated() {
      switch step {
      case .write(let i, _, let k): authors[k] = i
      case .writePart(let i, let j, _, let k):
        authors[k] = i
        result.append(
          replacing(index, by: .write(on: i, since: j, message: k)))
      case .split(let k, let a, let b):
        (authors[a], authors[b]) = (authors[k], authors[k])
      case .fetch(let i, let id, let k): contexts[k] = (i, id)
      case .commit(let k, let edits, let company):
        guard let (i, id) = contexts[k] else { continue }
        let verbs = edits.sorted { $0.key < $1.key }
          .map { ScriptVerb.edit(id, $0.key, $0.value) }
        result.append(
          replacing(index, by: .save(on: i, company.around(verbs))))
      case .discard(let k, let company):
        guard let (i, id) = contexts[k] else { continue }
        result.append(
          replacing(index, by: .save(on: i, company.around([.delete(id)]))))
      case .merge(let i, let j), .call(let i, let j, _, _):
        result.append(replacing(index, by: .sync(from: i, to: j)))
      case .deliver(let k, let j):
        if let i = authors[k], i != j {
          result.append(replacing(index, by: .sync(from: i, to: j)))
        }
      case .fork where !steps[..<index].contains(where: \.isFork):
        // The device exists from the start, under the same number.
        var copy = self
        copy.steps.remove(at: index)
        copy.deviceCount += 1
        result.append(copy)
      default: break
      }
    }
    return result
  }

  /// The scripts without an idle device, or with one device's steps moved to an
  /// earlier device.
  var withFewerDevices: [Script] {
    (1..<max(deviceCount, 1)).reversed().flatMap { i in
      isIdle(i) ? [removing(i)] : (0..<i).map { renaming(i, to: $0) }
    }
  }

  private func isIdle(_ i: Int) -> Bool { renaming(i, to: -1) == self }

  private func renaming(_ i: Int, to j: Int) -> Script {
    var copy = self
    copy.steps = steps.map { step in step.mapDevices { $0 == i ? j : $0 } }
    return copy
  }

  private func removing(_ i: Int) -> Script {
    var copy = self
    copy.deviceCount -= 1
    copy.steps = steps.map { step in step.mapDevices { $0 > i ? $0 - 1 : $0 } }
    return copy
  }

  private func replacing(_ index: Int, by step: ScriptStep) -> Script {
    var copy = self
    copy.steps[index] = step
    return copy
  }
}

extension ScriptStep {
  fileprivate var isFork: Bool {
    if case .fork = self { true } else { false }
  }

  /// Returns the step with other device numbers.
  fileprivate func mapDevices(_ new: (Int) -> Int) -> ScriptStep {
    switch self {
    case .save(let i, let verbs): .save(on: new(i), verbs)
    case .undo(let i, let again): .undo(on: new(i), again: again)
    case .setClock(let i, let now): .setClock(of: new(i), to: now)
    case .sync(let i, let j): .sync(from: new(i), to: new(j))
    case .call(let i, let j, let limit, let messages):
      .call(from: new(i), to: new(j), byteLimit: limit, messages: messages)
    case .merge(let i, let j): .merge(from: new(i), into: new(j))
    case .write(let i, let j, let k):
      .write(on: new(i), since: j.map(new), message: k)
    case .writePart(let i, let j, let limit, let k):
      .writePart(on: new(i), since: new(j), byteLimit: limit, message: k)
    case .deliver(let k, let i): .deliver(message: k, to: new(i))
    case .backUp(let i, let k): .backUp(new(i), as: k)
    case .restore(let i, let k, let token):
      .restore(new(i), from: k, with: token)
    case .storeToken(let i): .storeToken(new(i))
    case .bringIn(let i, let rows): .bringIn(on: new(i), rows)
    case .pull(let i, let server, let time, let rows):
      .pull(on: new(i), from: server, at: time, rows)
    case .reopen(let i): .reopen(new(i))
    case .fork(let i): .fork(new(i))
    case .purge(let i): .purge(new(i))
    case .fold(let i): .fold(new(i))
    case .mislead(let i, let j): .mislead(new(i), with: new(j))
    case .retire(let i, let j): .retire(on: new(i), new(j))
    case .fetch(let i, let id, let k): .fetch(on: new(i), id, context: k)
    case .split, .commit, .discard: self
    }
  }
}
