// SPDX-License-Identifier: Apache-2.0

import Rejoin

extension FieldState {
  /// Returns a description of a change that a device made in the name of
  /// another device, or `nil` if the device changed only its own content.
  ///
  /// A removal of the content of others is not a forgery.
  ///
  /// - Parameters:
  ///   - device: The author of the message.
  ///   - before: The field before the message.
  public func forgery(
    by device: DeviceID, over before: FieldState
  ) -> String? {
    func forgery<Store: FieldStore>(in store: Store) -> String? {
      guard let old = before.store(of: Store.self) else {
        return "the field is of another kind"
      }
      return store.forgery(by: device, over: old)
    }
    return read { forgery(in: $0) }
  }
}

extension FieldStore {
  fileprivate func forgery(by device: DeviceID, over old: Self) -> String? {
    let dots = saves.subtracting(old.saves).union(equivocations(with: old))
    if let dot = dots.filter({ $0.device != device }).min() {
      return "\(dot) did not save this content"
    }
    // A store may have the sum of a device's saves instead of their dots.
    return Set(contributors + old.contributors).sorted()
      .first { $0 != device && !adds(sameAs: old, by: $0) }
      .map { "\($0) did not add this" }
  }

  fileprivate var saves: Set<Dot> {
    var saves: Set<Dot> = []
    forEachSave { dot, _ in saves.insert(dot) }
    return saves
  }
}

extension FieldState {
  /// The saves that the field names.
  public var saves: Set<Dot> { read { $0.saves } }
}
