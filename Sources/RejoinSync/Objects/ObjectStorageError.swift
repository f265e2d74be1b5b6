// SPDX-License-Identifier: Apache-2.0

/// The reason why a storage of objects cannot be used.
public enum ObjectStorageError: Error, Hashable, Sendable {
  /// The storage has more objects than a device reads.
  case tooManyObjects(limit: Int)
  /// The folder does not exist, or is not a folder.
  case noFolder(path: String)
  /// The system could not read or write a file.
  case failed(_ reason: String)
}

extension ObjectStorageError: CustomStringConvertible {
  /// The reason and its remedy.
  public var description: String {
    switch self {
    case .tooManyObjects(let limit):
      "The storage has more than \(limit) objects. Give the scope a storage of its own."
    case .noFolder(let path):
      "There is no folder at \(path). Create it, or connect the volume. Nothing was "
        + "deleted."
    case .failed(let reason):
      "\(reason). Check the rights and the free space."
    }
  }
}
