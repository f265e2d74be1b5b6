// SPDX-License-Identifier: Apache-2.0

/// The entries that a save appends, after an optional cancellation.
public struct LedgerEdit: Hashable, Sendable {
  /// An amount and its purpose.
  public struct Entry: Hashable, Sendable {
    /// The amount.
    public let amount: Int64
    /// The purpose of the amount.
    public let memo: Value?
  }

  /// Whether the edit cancels all earlier entries.
  public internal(set) var isCancelled = false
  /// The entries to append.
  public internal(set) var entries: [Entry] = []

  /// Creates an edit without effect.
  public init() {}

  /// An edit that cancels every entry.
  public static var cancelling: LedgerEdit {
    var edit = LedgerEdit()
    edit.isCancelled = true
    return edit
  }

  /// Appends an entry.
  public mutating func append(_ amount: Int64, memo: Value?) {
    entries.append(Entry(amount: amount, memo: memo))
  }

  /// Returns the total of a ledger after the edit, if its total before the edit
  /// is `total`.
  public func applied(to total: Int64) -> Int64 {
    let sum = entries.reduce(isCancelled ? 0 : WideInt(total)) {
      $0 + WideInt($1.amount)
    }
    return Int64(clamping: sum)
  }
}

extension LedgerEdit: KindEdit {
  var mayContainReferences: Bool { false }

  var removes: Bool { isCancelled }

  var byteBound: Int {
    entries.reduce(0) { $0 + ByteBound.entry(memo: $1.memo) }
  }

  var canonical: LedgerEdit {
    var edit = self
    edit.entries = entries.map {
      Entry(amount: $0.amount, memo: $0.memo?.canonical)
    }
    return edit
  }

  mutating func append(_ later: LedgerEdit) -> Bool {
    if later.isCancelled { self = .cancelling }
    entries += later.entries
    return true
  }

  func add(to digest: inout Digest) {
    digest.add(isCancelled ? 7 : 6)
    for entry in entries {
      digest.add(UInt64(bitPattern: entry.amount))
      digest.add(entry.memo)
    }
  }
}
