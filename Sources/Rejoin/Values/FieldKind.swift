// SPDX-License-Identifier: Apache-2.0

/// The kind of a field, which determines its lattice and how it is read.
public enum FieldKind: String, Codable, Hashable, Sendable, CaseIterable {
  /// A register that keeps concurrent writes as siblings.
  case register
  /// A counter.
  case counter
  /// A set whose insertions win over concurrent removals.
  case set
  /// An append-only list of amounts.
  case ledger
  /// The marks of ``FieldKey/existence``.
  ///
  /// A schema cannot declare a field of this kind.
  case existence

  /// The kinds that a schema can declare.
  public static let allCases: [FieldKind] =
    [.register, .counter, .set, .ledger]
}

extension FieldKind: Comparable {
  public static func < (a: FieldKind, b: FieldKind) -> Bool {
    a.order < b.order
  }

  /// The position among all kinds, with existence at the end.
  ///
  /// Messages contain this number.
  var order: Int {
    FieldKind.allCases.firstIndex(of: self) ?? FieldKind.allCases.count
  }

  /// Creates the kind at a position, or returns `nil` if no kind has it.
  init?(order: Int) {
    guard order <= FieldKind.allCases.count else { return nil }
    self =
      order < FieldKind.allCases.count
      ? FieldKind.allCases[order] : .existence
  }
}
