// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// A system library that is opened at run time, so the package needs neither
/// its header nor a dependency in the manifest.
struct DynamicLibrary {
  private let handle: UnsafeMutableRawPointer
  private let title: String

  /// Opens the first file that exists.
  ///
  /// - Parameters:
  ///   - files: The names of the library's file on different systems.
  ///   - title: The name of the library in errors.
  ///   - package: The Debian package that contains the library.
  init(
    _ files: [String], title: String, package: String
  ) throws(SQLError) {
    if let handle = files.lazy.compactMap(Self.open).first {
      (self.handle, self.title) = (handle, title)
      return
    }
    throw SQLError(
      .libraryMissing,
      "\(title) is not installed; on Debian and Ubuntu it is in the package "
        + package)
  }

  /// Opens a file.
  init(_ file: String) throws(SQLError) {
    // An empty name means the program itself.
    guard !file.isEmpty, !file.utf8.contains(0), let handle = Self.open(file)
    else {
      throw SQLError(
        .libraryMissing, "\(file) is not a library that can be opened here")
    }
    (self.handle, self.title) = (handle, file)
  }

  // WebAssembly has no libraries that a program opens.
  private static func open(_ file: String) -> UnsafeMutableRawPointer? {
    #if os(WASI)
      nil
    #else
      dlopen(file, RTLD_NOW)
    #endif
  }

  private static func find(
    _ name: String, in handle: UnsafeMutableRawPointer
  ) -> UnsafeMutableRawPointer? {
    #if os(WASI)
      nil
    #else
      dlsym(handle, name)
    #endif
  }

  /// Returns the function with a name, as a function of a C type.
  func function<Function>(
    _ name: String, _: Function.Type = Function.self
  ) throws(SQLError) -> Function {
    guard let pointer = Self.find(name, in: handle) else {
      throw SQLError(
        .libraryMissing,
        "\(title) has no \(name): it is too old, or another library")
    }
    return unsafeBitCast(pointer, to: Function.self)
  }
}
