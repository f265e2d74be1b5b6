// SPDX-License-Identifier: Apache-2.0

extension Decoder {
  /// Returns an error for invalid content.
  func corrupted(_ description: String) -> DecodingError {
    .dataCorrupted(.init(codingPath: codingPath, debugDescription: description))
  }
}
