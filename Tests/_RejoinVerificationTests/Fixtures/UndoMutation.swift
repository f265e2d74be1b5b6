// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinTesting

/// Random changes of encoded undos.
///
/// Decoding still accepts many of them.
struct UndoMutation {
  private let pool: JSONPool
  /// The changes of all saves.
  private let changes: [JSONTree]

  private static let contents = ["writes", "sums", "existence"]
  private static let texts: [JSONTree] = [
    .text("0"), .text("-1"), .text("\(WideInt.max)"), .text("\(WideInt.min)"),
  ]

  init(_ undos: [JSONTree]) {
    pool = JSONPool(undos)
    changes = pool.parts.filter { $0["save"] != nil }
  }

  /// Changes an undo.
  func mutate(_ undo: inout JSONTree, _ random: inout SeededRandom) {
    guard random.chance(percent: 70), case .list(var list)? = undo["changes"],
      !list.isEmpty
    else { return undo.mutate(with: pool, &random) }
    let i = random.number(below: list.count)
    mutateChange(&list[i], &random)
    // The effects of other changes cannot hide a single change.
    undo["changes"] = .list(random.chance(percent: 30) ? [list[i]] : list)
  }

  private func mutateChange(
    _ change: inout JSONTree, _ random: inout SeededRandom
  ) {
    let other = random.pick(changes)
    switch random.number(below: 4) {
    case 0:
      let key = random.pick(["element", "element", "field", "save"])
      if key == "save" {
        change[key] = other[key]
      } else {
        change["location"]?[key] =
          random.chance(percent: 30) ? nil : other["location"]?[key]
      }
    case 1: change["content"] = other["content"]
    default:
      for key in Self.contents {
        guard var content = change["content"]?[key]?["_0"] else { continue }
        mutateContent(&content, &random)
        change["content"]?[key]?["_0"] = content
      }
    }
  }

  private func mutateContent(
    _ content: inout JSONTree, _ random: inout SeededRandom
  ) {
    switch random.number(below: 4) {
    case 0: content["before"] = nil
    case 1: content["isThere"]?.mutate(with: pool, &random)
    case 2:
      for key in ["others", "decisions", "amounts"] where content[key] != nil {
        if random.chance(percent: 50) { content[key] = .list([]) }
      }
    default:
      guard case .list(var list)? = content["decisions"], !list.isEmpty else {
        return content.mutate(with: pool, &random)
      }
      let side = random.pick(["before", "after"])
      if random.chance(percent: 50) {
        list[0][side]?["sum"] = random.pick(Self.texts)
      } else {
        list[0][side]?.mutate(with: pool, &random)
      }
      content["decisions"] = .list(list)
    }
  }
}

extension JSONTree {
  /// A member of an object.
  subscript(key: String) -> JSONTree? {
    get {
      if case .object(let parts) = self { parts[key] } else { nil }
    }
    set {
      guard case .object(var parts) = self else { return }
      parts[key] = newValue
      self = .object(parts)
    }
  }
}
