// SPDX-License-Identifier: Apache-2.0

/// A law that does not hold, with the smallest values found that show it.
///
/// Swift Testing and XCTest print the description of an error that a test throws,
/// which is all that is needed to see the failure and to replay it:
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
  /// A value and what it is in the statement of the law.
  public struct Exhibit: Hashable, Sendable {
    /// What the law calls it.
    public let name: String
    /// The value as text.
    public let text: String
  }

  /// The law that is broken.
  public let law: LatticeLaw

  /// The type that breaks it.
  public let type: String

  /// The values that show it.
  public let exhibits: [Exhibit]

  /// What the devices did to reach the values, one step a line; empty where
  /// samples were given.
  public let steps: [String]

  /// The seed of the script; `nil` where samples were given.
  public let seed: UInt64?

  let checker: String
  let originalCount: Int
}

extension LawFailure: CustomStringConvertible {
  /// The law, the values, the steps to them, and how to replay them.
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
