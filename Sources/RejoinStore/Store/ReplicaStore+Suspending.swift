// SPDX-License-Identifier: Apache-2.0

// Stores of apps that the system suspends.
extension ReplicaStore {
  /// Closes the file until ``resume()``, so that no lock is held on it.
  ///
  /// iOS ends a suspended app that holds a lock on a file of an App Group, and an open
  /// store always holds one. Suspend the store when the app enters the background, and
  /// resume it when the app returns:
  ///
  ///     try await store.suspend()
  ///     await store.read { $0[Note.self, "1"]?.title }  // "Milk"
  ///     try await store.save { $0[Note.self, "1"].title = "Tea" }
  ///     // throws StoreError.suspended
  ///
  /// If a sync engine syncs the store, stop the engine before, and start it after the
  /// store is resumed. The records stay in memory. You can read and observe them, and every change and
  /// every delta throws ``StoreError/suspended``. Suspending a store that is suspended,
  /// closed or in memory has no other effect. Readers of the file have locks of their own
  /// until their closures return.
  ///
  /// - Throws: ``StoreError/fileReplaced(_:)`` if the path names another file now. The
  ///   store is closed then.
  public func suspend() throws(StoreError) {
    try scope.suspend()
  }

  /// Opens the file again after ``suspend()``.
  ///
  /// It compares the last save of each device with the file, and reads no records. If
  /// another process opened the scope for writing meanwhile, this store is superseded
  /// as usual. Resuming a store that is not suspended has no effect.
  ///
  /// - Throws: ``StoreError``, such as ``StoreError/fileReplaced(_:)`` also if the file
  ///   has the content of a backup now. After it and ``StoreError/superseded``, open the
  ///   scope again. After another error, such
  ///   as the one for a file that is protected while the phone is locked, the store is
  ///   still suspended, and you can resume it later.
  public func resume() throws(StoreError) {
    try scope.resume()
  }
}
