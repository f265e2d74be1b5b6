// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinComparison

/// An error in a script.
struct ScriptError: Error, Hashable, CustomStringConvertible {
  /// The number of the line, counted from one.
  let line: Int
  /// The problem and the remedy.
  let reason: String

  var description: String { "line \(line): \(reason)" }
}

/// One line of a script: an object whose keys are taken one by one, so that
/// those left over can be refused.
struct ScriptLine {
  /// The number of the line, counted from one.
  let number: Int
  /// The keys that have not been taken.
  private var members: [SchemaName: JSONValue]

  /// Parses a line.
  init(_ text: String, number: Int) throws(ScriptError) {
    self.number = number
    let json: JSONValue
    do {
      json = try JSONParser.value(of: Array(text.utf8)[...])
    } catch {
      throw ScriptError(
        line: number,
        reason: "invalid JSON at column \(error.offset): \(error.problem); "
          + "write one object per line")
    }
    guard case .object(let members) = json else {
      throw ScriptError(
        line: number,
        reason: "expected an object, found \(json.typeName); write one object "
          + "per line")
    }
    self.members = members
  }

  /// Reads an object that is part of a line.
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

  func has(_ key: SchemaName) -> Bool {
    members[key] != nil
  }

  /// Takes the value of a key, or `nil` if the key is missing.
  mutating func take(_ key: SchemaName) -> JSONValue? {
    members.removeValue(forKey: key)
  }

  /// Takes a required string.
  mutating func text(_ key: SchemaName) throws(ScriptError) -> String {
    guard case .scalar(.string(let text))? = take(key) else {
      throw error("\"\(key)\" is missing or no string; add a string")
    }
    return text
  }

  /// Takes an optional string.
  mutating func optionalText(_ key: SchemaName) throws(ScriptError) -> String? {
    has(key) ? try text(key) : nil
  }

  /// Takes an optional list of strings, empty if missing.
  mutating func texts(_ key: SchemaName) throws(ScriptError) -> [String] {
    guard let json = take(key) else { return [] }
    guard case .array(let elements) = json else {
      throw error("\"\(key)\" must be a list of strings")
    }
    var texts: [String] = []
    for case .scalar(.string(let text)) in elements { texts.append(text) }
    guard texts.count == elements.count else {
      throw error("\"\(key)\" must be a list of strings")
    }
    return texts
  }

  /// Takes an optional object with sorted members, empty if missing.
  mutating func object(
    _ key: SchemaName
  ) throws(ScriptError) -> [(key: String, value: JSONValue)] {
    guard let json = take(key) else { return [] }
    guard case .object(let members) = json else {
      throw error("\"\(key)\" must be an object")
    }
    return members.sorted { $0.key < $1.key }
      .map { ($0.key.text, $0.value) }
  }

  /// Takes an optional wall-clock time in milliseconds.
  mutating func time(
    _ key: SchemaName = "at"
  ) throws(ScriptError) -> Int64? {
    guard let json = take(key) else { return nil }
    guard case .scalar(.int(let time)) = json else {
      throw error("\"\(key)\" must be an integer, a time in milliseconds")
    }
    return time
  }

  /// Takes an optional number of bytes.
  mutating func byteLimit() throws(ScriptError) -> Int? {
    guard let json = take("bytes") else { return nil }
    guard case .scalar(.int(let count)) = json, count > 0 else {
      throw error("\"bytes\" must be a number of bytes, 1 or more")
    }
    return Int(count)
  }

  /// Takes an optional boolean, false if missing.
  mutating func flag(_ key: SchemaName) throws(ScriptError) -> Bool {
    guard let json = take(key) else { return false }
    guard case .scalar(.bool(let flag)) = json else {
      throw error("\"\(key)\" must be true or false")
    }
    return flag
  }

  /// Refuses a line with keys that have not been taken.
  func finish() throws(ScriptError) {
    guard let key = members.keys.min() else { return }
    throw error("unknown key \"\(key)\"; remove it, or correct its spelling")
  }
}
