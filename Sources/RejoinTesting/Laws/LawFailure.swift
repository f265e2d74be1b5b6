// SPDX-License-Identifier: Apache-2.0

/// An error that describes a law that doesn't hold, with the smallest example
/// found.
///
/// If a test throws this error, Swift Testing and XCTest print its description.
/// The description shows the failure and how to replay it:
///
///     LastArrival breaks the law commutative: a ⊔ b = b ⊔ a
///       a      LastArrival(value: 3)
///       b      LastArrival(value: 8)
///       a ⊔ b  LastArrival(value: 8)
///       b ⊔ a  LastArrival(value: 3)
///     after 2 steps, shrunk from 9:
///       1. A changes: LastArrival(value: 3)
///       2. B changes: LastArrival(value: 8)
///     replay with checkLattice(…, seeds: 17..<18)
public struct LawFailure: Error, Sendable {
  /// A value with its role in the statement of the law.
  public struct Exhibit: Hashable, Sendable {
    /// The name of the value in the law.
    public let name: String
    /// The value as text.
    public let text: String
  }

  /// The broken law.
  public let law: LatticeLaw

  /// The type that breaks it.
  public let type: String

  /// The values that show the failure.
  public let exhibits: [Exhibit]

  /// The steps that lead to the values, or an empty array if you check samples.
  public let steps: [String]

  /// The seed of the script, or `nil` if you check samples.
  public let seed: UInt64?

  let checker: String
  let originalCount: Int
}

extension LawFailure: CustomStringConvertible {
  /// The law, the values, the steps that lead to them, and a call that replays
  /// them.
  public var description: String {
    let width = exhibits.map(\.name.count).max() ?? 0
    var lines = ["\(type) breaks the law \(law.rawValue): \(law.statement)"]
    lines += exhibits.map {
      let gap = String(repeating: " ", count: width - $0.name.count + 2)
      return "  \($0.name)\(gap)\($0.text)"
    }
    if !steps.isEmpty {
      let count = steps.count == 1 ? "1 step" : "\(steps.count) steps"
      lines.append("after \(count), shrunk from \(originalCount):")
      lines += steps.enumerated().map { "  \($0 + 1). \($1)" }
    }
    if let seed {
      lines.append("replay with \(checker)(…, seeds: \(seed)..<\(seed &+ 1))")
    }
    return lines.joined(separator: "\n")
  }
}
