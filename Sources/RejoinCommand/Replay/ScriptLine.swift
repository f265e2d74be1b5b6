// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinComparison

/// What is wrong with a script, where, and how to mend it.
struct ScriptError: Error, Hashable, CustomStringConvertible {
  let line: Int
  let reason: String

  var description: String { "line \(line): \(reason)" }
}

/// One line of a script: an object whose keys are taken one by one, so that those
/// left over can be refused.
struct ScriptLine {
  let number: Int
  private var members: [Name: JSONValue]

  /// Reads a line.
  init(_ text: String, number: Int) throws(ScriptError) {
    self.number = number
    let json: JSONValue
    do {
      json = try JSONParser.value(of: Array(text.utf8)[...])
    } catch {
      throw ScriptError(
        line: number,
        reason: "not JSON at column \(error.offset): \(error.problem); "
          + "write one object a line")
    }
    guard case .object(let members) = json else {
      throw ScriptError(
        line: number, reason: "not an object: write one object a line")
    }
    self.members = members
  }

  /// A part of a line.
  init(_ json: JSONValue, number: Int, of name: String) throws(ScriptError) {
    self.number = number
    guard case .object(let members) = json else {
      throw ScriptError(line: number, reason: "\(name) must be an object")
    }
    self.members = members
  }

  func error(_ reason: String) -> ScriptError {
    ScriptError(line: number, reason: reason)
  }

  func has(_ key: Name) -> Bool {
    members[key] != nil
  }

  /// Takes a key that may be missing.
  mutating func take(_ key: Name) -> JSONValue? {
    members.removeValue(forKey: key)
  }

  /// Takes a text.
  mutating func text(_ key: Name) throws(ScriptError) -> String {
    guard case .scalar(.string(let text))? = take(key) else {
      throw error("\"\(key)\" is missing or no text")
    }
    return text
  }

  /// Takes a text that may be missing.
  mutating func optionalText(_ key: Name) throws(ScriptError) -> String? {
    has(key) ? try text(key) : nil
  }

  /// Takes a list of texts.
  mutating func texts(_ key: Name) throws(ScriptError) -> [String] {
    guard let json = take(key) else { return [] }
    guard case .array(let elements) = json else {
      throw error("\"\(key)\" must be a list of texts")
    }
    var texts: [String] = []
    for case .scalar(.string(let text)) in elements { texts.append(text) }
    guard texts.count == elements.count else {
      throw error("\"\(key)\" must be a list of texts")
    }
    return texts
  }

  /// Takes an object.
  mutating func object(
    _ key: Name
  ) throws(ScriptError) -> [(key: String, value: JSONValue)] {
    guard let json = take(key) else { return [] }
    guard case .object(let members) = json else {
      throw error("\"\(key)\" must be an object")
    }
    return members.sorted { $0.key < $1.key }
      .map { ($0.key.text, $0.value) }
  }

  /// Takes a wall-clock time in milliseconds.
  mutating func time() throws(ScriptError) -> Int64? {
    guard let json = take("at") else { return nil }
    guard case .scalar(.int(let time)) = json else {
      throw error("\"at\" must be a whole number of milliseconds")
    }
    return time
  }

  /// Takes a truth value, false if missing.
  mutating func flag(_ key: Name) throws(ScriptError) -> Bool {
    guard let json = take(key) else { return false }
    guard case .scalar(.bool(let flag)) = json else {
      throw error("\"\(key)\" must be true or false")
    }
    return flag
  }

  /// Refuses what has not been taken.
  func finish() throws(ScriptError) {
    guard let key = members.keys.min() else { return }
    throw error("unknown key \"\(key)\": take it out or mend its spelling")
  }
}
