// SPDX-License-Identifier: Apache-2.0

import Rejoin

extension OracleEdit {
  /// The last value that was written, or `nil` if the edit contains no write.
  var written: Value?? {
    for case .write(let value) in verbs.reversed() { return .some(value) }
    return nil
  }

  var resets: Bool {
    verbs.contains {
      if case .count(let edit) = $0 { edit.isReset } else { false }
    }
  }

  /// The change after the last reset, or `nil` if there is only a reset.
  var count: WideInt? {
    var (sum, isChanged) = (WideInt(0), false)
    for case .count(let edit) in verbs {
      if edit.isReset { (sum, isChanged) = (0, false) }
      sum += WideInt(edit.increments) - WideInt(edit.decrements)
      let isNothing = edit.increments == 0 && edit.decrements == 0
      isChanged = isChanged || !resets || !isNothing
    }
    return isChanged ? sum : nil
  }

  var cancels: Bool {
    verbs.contains {
      if case .append(let edit) = $0 { edit.isCancelled } else { false }
    }
  }

  /// Whether the edit cancels the seen changes of a counter or a ledger.
  var cancelsAdditions: Bool { drops || resets || cancels }

  /// The entries after the last cancellation.
  var appended: [LedgerEdit.Entry] {
    var entries: [LedgerEdit.Entry] = []
    for case .append(let edit) in verbs {
      if edit.isCancelled { entries = [] }
      entries += edit.entries
    }
    return entries
  }

  /// Whether each named element was inserted or removed last.
  private var words: [Value: Bool] {
    var words: [Value: Bool] = [:]
    for case .members(let edit) in verbs {
      if edit.isCleared {
        words = [:]
      }
      words.merge(edit.members) { $1 }
    }
    return words
  }

  private var clears: Bool {
    verbs.contains {
      if case .members(let edit) = $0 { edit.isCleared } else { false }
    }
  }

  /// The elements that the save inserts.
  var inserted: [Value] { words.filter(\.value).map(\.key) }

  /// Whether the edit supersedes earlier insertions of an element.
  func speaks(of element: Value) -> Bool { clears || words[element] != nil }
}
