// SPDX-License-Identifier: Apache-2.0

/// What a field is: which lattice it is made of, and how it is read.
public enum FieldKind: String, Codable, Hashable, Sendable, CaseIterable {
  /// A register that keeps concurrent writes as siblings: the default.
  case register
  /// A register that keeps only the last write.
  case lww
  /// A counter.
  case counter
  /// A set in which a concurrent insertion beats a removal.
  case set
  /// A set in which a concurrent removal beats an insertion.
  case removeWinsSet
  /// An append-only list of amounts.
  case ledger
}

extension FieldKind: Comparable {
  public static func < (a: FieldKind, b: FieldKind) -> Bool {
    a.order < b.order
  }

  private var order: Int { FieldKind.allCases.firstIndex(of: self) ?? 0 }
}
