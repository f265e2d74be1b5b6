// SPDX-License-Identifier: Apache-2.0

/// What can be fuzzed: each turns any bytes into something that must hold.
public enum FuzzTarget: String, CaseIterable, Sendable {
  /// Reads messages of every kind.
  case decode
  /// Reads a stored replica, opens it and works with it.
  case open
  /// Joins what was read to a replica in use.
  case apply
  /// Takes the bytes for a script, and checks it against the oracle.
  case scripts
  /// Takes the bytes for edits in a context, and checks what a policy does.
  case contexts

  /// Checks one input.
  ///
  /// - Throws: What does not hold.
  public func check(_ bytes: [UInt8]) throws(FuzzFailure) {
    switch self {
    case .decode: try DecodeBody(bytes).check()
    case .open: try OpenBody(bytes).check()
    case .apply: try ApplyBody(bytes).check()
    case .scripts: try ScriptBody(bytes).check()
    case .contexts: try ContextBody(bytes).check()
    }
  }

  /// Checks one input of libFuzzer's, and ends the process if it fails.
  public func run(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    do throws(FuzzFailure) {
      try check(Array(UnsafeBufferPointer(start: start, count: count)))
    } catch {
      fatalError("\(rawValue): \(error)")
    }
    return 0
  }
}

/// Something that must hold and does not.
public struct FuzzFailure: Error, CustomStringConvertible {
  /// What it is.
  public let description: String

  init(_ description: String) { self.description = description }
}

/// Fails unless a condition holds.
func require(
  _ condition: Bool, _ what: @autoclosure () -> String
) throws(FuzzFailure) {
  if !condition { throw FuzzFailure(what()) }
}

/// Fails unless two things are equal.
func equal<Thing: Equatable>(
  _ what: @autoclosure () -> String, _ real: Thing, _ expected: Thing
) throws(FuzzFailure) {
  if real == expected { return }
  throw FuzzFailure("\(what()): is \(real), must be \(expected)")
}
