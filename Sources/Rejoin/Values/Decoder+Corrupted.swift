// SPDX-License-Identifier: Apache-2.0

extension Decoder {
  /// The error of content that cannot be.
  func corrupted(_ description: String) -> DecodingError {
    .dataCorrupted(.init(codingPath: codingPath, debugDescription: description))
  }
}
