// SPDX-License-Identifier: Apache-2.0

/// The sections after the records of a message.
enum WireSection: Int {
  case histories = 1
  case forks = 2
  case device = 3
  case stability = 4
  case servers = 5
  case digests = 6
}

extension WireSection {
  /// Whether the section belongs into such a message.
  func isPart(of reader: WireReader) -> Bool {
    switch self {
    case .histories, .forks: reader.kind != .record
    default: reader.kind == .stored
    }
  }
}

extension WireWriter {
  /// A section, after its number and its length.
  mutating func section(_ id: WireSection, _ content: WireWriter) {
    pair(id.rawValue, content.bytes.count)
    raw(content.bytes)
  }
}
