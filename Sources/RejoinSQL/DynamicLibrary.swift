// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A library of the system that is opened at run time, so that neither a header
/// nor an entry in a manifest is needed.
struct DynamicLibrary {
  private let handle: UnsafeMutableRawPointer
  private let title: String

  /// Opens the first of some files that is there.
  ///
  /// - Parameters:
  ///   - files: The names under which systems have it.
  ///   - title: What it is called in errors.
  ///   - package: The Debian package that has it.
  init(
    _ files: [String], title: String, package: String
  ) throws(SQLError) {
    for file in files {
      if let handle = dlopen(file, RTLD_NOW) {
        (self.handle, self.title) = (handle, title)
        return
      }
    }
    throw SQLError(
      .libraryMissing,
      "\(title) is not installed; on Debian and Ubuntu it is in the package "
        + package)
  }

  /// A function, by its name and its type in C.
  func function<Function>(
    _ name: String, _: Function.Type = Function.self
  ) throws(SQLError) -> Function {
    guard let pointer = dlsym(handle, name) else {
      throw SQLError(.libraryMissing, "\(title) is too old: it has no \(name)")
    }
    return unsafeBitCast(pointer, to: Function.self)
  }
}
