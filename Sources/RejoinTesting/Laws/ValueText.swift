// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// The text of a value, composed of its parts.
///
/// A lattice's own description is for users and may hide content that merging
/// compares. For example, two counters that print `0` can differ. Dictionaries
/// and sets are sorted, so equal values have equal texts.
enum ValueText {
  static func of(_ value: Any) -> String {
    if let text = value as? String { return text.debugDescription }
    if let clock = value as? VectorClock { return clock.description }
    let mirror = Mirror(reflecting: value)
    switch mirror.displayStyle {
    case .optional: return mirror.children.first.map { of($0.value) } ?? "nil"
    case .collection: return "[\(list(mirror))]"
    case .tuple: return "(\(list(mirror)))"
    case .enum where !mirror.children.isEmpty: return list(mirror)
    case .set: return "[\(sorted(mirror) { of($0) })]"
    case .dictionary:
      return mirror.children.isEmpty ? "[:]" : "[\(sorted(mirror, pair))]"
    default: break
    }
    let isDescribed = value is any CustomStringConvertible
    if mirror.children.isEmpty || isDescribed && !(value is any Lattice) {
      return plain(value, mirror)
    }
    return "\(name(mirror))(\(list(mirror)))"
  }

  /// Returns bytes as text, with two digits for each byte.
  static func hexadecimal(_ bytes: [UInt8]) -> String {
    if bytes.isEmpty { return "none" }
    return bytes.map { byte in
      (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }.joined()
  }

  private static func plain(_ value: Any, _ mirror: Mirror) -> String {
    mirror.displayStyle == .struct && !(value is any CustomStringConvertible)
      ? "\(name(mirror))()" : "\(value)"
  }

  /// Returns the name of the type without its module and generic arguments.
  private static func name(_ mirror: Mirror) -> String {
    String("\(mirror.subjectType)".prefix { $0 != "<" })
  }

  private static func list(_ mirror: Mirror) -> String {
    mirror.children.map { label, value in
      guard let label, !label.hasPrefix(".") else { return of(value) }
      guard mirror.displayStyle == .enum else {
        return "\(label): \(of(value))"
      }
      let payload = of(value)
      return payload.hasPrefix("(") ? label + payload : "\(label)(\(payload))"
    }.joined(separator: ", ")
  }

  private static func pair(_ entry: Any) -> String {
    Mirror(reflecting: entry).children.map { of($0.value) }
      .joined(separator: ": ")
  }

  private static func sorted(
    _ mirror: Mirror, _ text: (Any) -> String
  ) -> String {
    mirror.children.map { text($0.value) }.sorted().joined(separator: ", ")
  }
}
