// SPDX-License-Identifier: Apache-2.0

/// A system call of a process, as `strace -f -y -xx` prints it.
struct SystemCall {
  struct NotUnderstood: Error { let line: String }

  let name: String
  private let result: Int
  private let arguments: [Substring]
  private let line: String

  /// Reads the successful calls, in the order of their returns.
  static func all(in log: String) throws -> [SystemCall] {
    // A call is in two pieces if another thread makes a call in between.
    var begun: [Substring: Substring] = [:]
    return try log.split(separator: "\n").compactMap { line in
      let (process, rest) = try split(line, at: " ")
      let call = rest.drop { $0 == " " }
      if call.hasPrefix("+++") || call.hasPrefix("---") { return nil }
      if call.hasSuffix(" <unfinished ...>") {
        begun[process] = call.dropLast(" <unfinished ...>".count)
        return nil
      }
      guard call.hasPrefix("<... ") else { return try SystemCall(call) }
      let (_, end) = try split(call, at: " resumed>")
      guard let start = begun.removeValue(forKey: process) else {
        throw NotUnderstood(line: String(line))
      }
      return try SystemCall(start + end)
    }
  }

  private init?(_ line: Substring) throws {
    self.line = String(line)
    let (name, rest) = try SystemCall.split(line, at: "(")
    guard let end = rest.ranges(of: ") ").last else {
      throw NotUnderstood(line: self.line)
    }
    let (_, value) = try SystemCall.split(
      rest[rest.index(before: end.upperBound)...], at: "= ")
    // The result is a question mark if the process was killed, and negative if
    // the call failed.
    guard let result = Int(value.prefix { $0.isNumber }) else { return nil }
    self.result = result
    self.name = String(name)
    arguments = rest[..<end.lowerBound].split(separator: ", ")
  }

  private static func split(
    _ text: Substring, at mark: String
  ) throws -> (Substring, Substring) {
    guard let place = text.firstRange(of: mark) else {
      throw NotUnderstood(line: String(text))
    }
    return (text[..<place.lowerBound], text[place.upperBound...])
  }

  /// Returns the path of the open file in an argument, or an empty text.
  func file(_ i: Int) throws -> String {
    guard let start = try argument(i).firstIndex(of: "<") else { return "" }
    let end = try argument(i)[start...].prefix { $0 != ">" }
    return String(decoding: try bytes(end), as: UTF8.self)
  }

  /// Returns the number of the open file in an argument.
  func descriptor(_ i: Int) throws -> Int? {
    Int(try argument(i).prefix { $0.isNumber })
  }

  /// Returns whether a path or a string contains a text.
  func isAbout(_ text: String) -> Bool {
    let hexadecimal = text.utf8.map {
      "\\x" + String($0 >> 4, radix: 16) + String($0 & 15, radix: 16)
    }
    return line.contains(hexadecimal.joined())
  }

  func path(_ i: Int) throws -> String {
    String(decoding: try string(i), as: UTF8.self)
  }

  func string(_ i: Int) throws -> [UInt8] {
    let text = try argument(i)
    guard text.first == "\"", text.last == "\"" else { throw error }
    return try bytes(text)
  }

  /// The bytes that the call wrote, which may be fewer than its argument.
  var written: [UInt8] {
    get throws { Array(try string(1).prefix(result)) }
  }

  func number(_ i: Int) throws -> Int {
    guard let number = Int(try argument(i)) else { throw error }
    return number
  }

  func has(_ flag: String, in i: Int) throws -> Bool {
    try argument(i).split(separator: "|").contains { $0 == flag }
  }

  /// The error for an unknown call.
  var error: NotUnderstood { NotUnderstood(line: String(line.prefix(300))) }

  private func argument(_ i: Int) throws -> Substring {
    guard i < arguments.count else { throw error }
    return arguments[i]
  }

  /// Returns the bytes of `\x2f\x74…`, without one character at each end.
  private func bytes(_ text: Substring) throws -> [UInt8] {
    let digits = Array(text.utf8.dropFirst())
    return try stride(from: 0, to: digits.count / 4 * 4, by: 4).map { i in
      guard digits[i] == UInt8(ascii: "\\"), digits[i + 1] == UInt8(ascii: "x")
      else { throw error }
      return try digit(digits[i + 2]) << 4 | digit(digits[i + 3])
    }
  }

  private func digit(_ character: UInt8) throws -> UInt8 {
    guard let value = Character(Unicode.Scalar(character)).hexDigitValue else {
      throw error
    }
    return UInt8(value)
  }
}
