// SPDX-License-Identifier: Apache-2.0
import Rejoin

/// The JSON of replay scripts.
enum ReplayJSON {
  static func text(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\0"..."\u{1f}":
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count)
        result += digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }

  static func object(_ members: [(String, String)]) -> String {
    "{\(members.map { "\(text($0.0)):\($0.1)" }.joined(separator: ","))}"
  }

  static func array(_ elements: [String]) -> String {
    "[\(elements.joined(separator: ","))]"
  }

  static func value(_ value: Value) -> String {
    switch value {
    case .string(let text): ReplayJSON.text(text)
    case .reference(let id): text("\(id)")
    default: value.description
    }
  }

  /// Returns the members of a line that express the edits.
  static func members(
    _ edits: [FieldKey: FieldEdit]
  ) -> [(String, String)] {
    var verbs: [String: [(String, String)]] = [:]
    var lists: [String: [String]] = [:]
    for (key, edit) in edits.sorted(by: { $0.key < $1.key }) {
      for (verb, argument) in spell(edit) {
        if let argument {
          verbs[verb, default: []].append((key.name, argument))
        } else {
          lists[verb, default: []].append(text(key.name))
        }
      }
    }
    return verbs.mapValues(object).merging(lists.mapValues(array)) { $1 }
      .sorted { $0.key < $1.key }
  }

  /// Returns the verbs of an edit, with their arguments.
  private static func spell(
    _ edit: FieldEdit
  ) -> [(verb: String, argument: String?)] {
    switch edit {
    case .write(let value):
      return [value.map { ("set", ReplayJSON.value($0)) } ?? ("clear", nil)]
    case .count(let edit):
      let change = WideInt(edit.increments) - WideInt(edit.decrements)
      return (edit.isReset ? [("reset", nil)] : [])
        + (change == 0 && edit.isReset ? [] : [("increment", "\(change)")])
    case .members(let edit):
      func named(_ isIn: Bool) -> [String] {
        edit.members.filter { $0.value == isIn }.keys.sorted().map(value)
      }
      let (added, removed) = (named(true), named(false))
      return (edit.isCleared ? [("clear", nil)] : [])
        + (added.isEmpty ? [] : [("insert", array(added))])
        + (removed.isEmpty ? [] : [("remove", array(removed))])
    case .append(let edit):
      let amounts = edit.entries.map { "\($0.amount)" }
      return (edit.isCancelled ? [("clear", nil)] : [])
        + (amounts.isEmpty ? [] : [("append", array(amounts))])
    }
  }
}
