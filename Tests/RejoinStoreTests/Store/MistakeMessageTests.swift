// SPDX-License-Identifier: Apache-2.0

import RejoinSQL
import RejoinStore
import Testing

/// A programming mistake stops the program with its message, even if the library
/// is optimized.
@Suite struct MistakeMessageTests {
  enum Mistake: CaseIterable, Codable {
    case noConnections, noDevices

    var message: String {
      switch self {
      case .noConnections: "`connections` must be 1 or more, not 0"
      case .noDevices: "a limit must be 1 or more, not 0"
      }
    }

    func make() async throws {
      var limits = Hub.Limits()
      if self == .noDevices { limits.devicesPerScope = 0 }
      _ = try await Hub(
        connections: self == .noConnections ? 0 : 1, limits: limits
      ) {
        try SQLiteConnection(opening: ":memory:")
      }
    }
  }

  @Test(arguments: Mistake.allCases)
  func messageIsShown(_ mistake: Mistake) async throws {
    let process = try await #require(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [mistake] in
      try await mistake.make()
    }
    let text = String(decoding: process.standardErrorContent, as: UTF8.self)
    #expect(text.contains(mistake.message), "\(text.prefix(300))")
  }
}
