// SPDX-License-Identifier: Apache-2.0

/// A fuzz target: a property that must hold for any bytes.
public enum FuzzTarget: String, CaseIterable, Sendable {
  /// Decodes messages of every kind.
  case decode
  /// Decodes a stored replica, opens it and uses it.
  case open
  /// Applies a decoded message to a replica in use.
  case apply
  /// Takes the bytes as choices of a script, and checks it against the oracle.
  case scripts
  /// Takes the bytes as choices of edits in a context, and checks the merge
  /// policy.
  case contexts
  /// Takes the bytes as a message of one device, and offers it to a hub that lets
  /// only that device write.
  case forge
  /// Takes the bytes as a request, and as an answer, of an exchange.
  case exchange
  /// Takes the bytes as the name of an object, a line break, and its bytes.
  case objects

  /// Checks one input.
  ///
  /// - Throws: The property that does not hold.
  public func check(_ bytes: [UInt8]) throws(FuzzFailure) {
    switch self {
    case .decode: try DecodeBody(bytes).check()
    case .open: try OpenBody(bytes).check()
    case .apply: try ApplyBody(bytes).check()
    case .scripts: try ScriptBody(bytes).check()
    case .contexts: try ContextBody(bytes).check()
    case .forge: try ForgeBody(bytes).check()
    case .exchange: try ExchangeBody(bytes).check()
    case .objects: try ObjectsBody(bytes).check()
    }
  }

  /// Checks one input of libFuzzer, and ends the process if it fails.
  public func run(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    do throws(FuzzFailure) {
      try check(Array(UnsafeBufferPointer(start: start, count: count)))
    } catch {
      fatalError("\(rawValue): \(error)")
    }
    return 0
  }
}

/// The error of a property that does not hold.
public struct FuzzFailure: Error, CustomStringConvertible {
  /// The property, and what was found instead.
  public let description: String

  init(_ description: String) { self.description = description }
}

/// Throws unless a condition holds.
func require(
  _ condition: Bool, _ what: @autoclosure () -> String
) throws(FuzzFailure) {
  if !condition { throw FuzzFailure(what()) }
}

/// Throws unless two values are equal.
func equal<Thing: Equatable>(
  _ what: @autoclosure () -> String, _ real: Thing, _ expected: Thing
) throws(FuzzFailure) {
  if real == expected { return }
  throw FuzzFailure("\(what()): is \(real), must be \(expected)")
}
