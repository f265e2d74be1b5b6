// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import Testing

@Suite(.encodes) struct VersionTests {
  private func delta() throws -> Delta {
    let replica = Replica.empty(1)
    try replica.edit { $0.name = "Ada" }
    return try #require(replica.delta())
  }

  private func fault(_ bytes: [UInt8]) -> WireError? {
    do throws(WireError) {
      _ = try Delta(decoding: bytes)
      return nil
    } catch { return error }
  }

  @Test func unknownSectionIsRefused() throws {
    var bytes = try delta().encoded()
    // Number 12, three bytes.
    bytes.insert(contentsOf: [0x3c, 1, 2, 3], at: bytes.count - 4)
    #expect(fault(bytes.resealed)?.code == .invalid)
  }

  @Test(arguments: [3, 0x11, 255] as [UInt8])
  func newerVersionErrorSuggestsUpdate(version: UInt8) throws {
    var bytes = try delta().encoded()
    bytes[2] = version
    // The version is read first: a newer one may use another checksum.
    let error = try #require(fault(bytes))
    #expect(error.code == .newerVersion)
    #expect(error.offset == 2)
    #expect(error.expected == "version 2 of the format, not \(version)")
    #expect(error.description.contains("Update the app"))
  }

  @Test(arguments: [0, 1] as [UInt8])
  func olderVersionErrorSuggestsConversion(version: UInt8) throws {
    var bytes = try delta().encoded()
    bytes[2] = version
    let error = try #require(fault(bytes))
    #expect(error.code == .olderVersion)
    #expect(error.offset == 2)
    #expect(error.description.contains("Convert it with the version"))
  }

  @Test func latticeOfNewerVersionIsRefused() throws {
    var bytes = try delta().encoded()
    let place = try #require(bytes.firstRange(of: Array("name".utf8)))
    // The lower half of the byte before the name is the shape.
    bytes[place.lowerBound - 1] |= 7
    #expect(fault(bytes.resealed)?.code == .newerVersion)
  }

  @Test func unknownKindIsKeptRelayedAndJoined() throws {
    let gauge = FieldKey("level", .counter, variant: "gauge")
    let plain = FieldKey("level", .counter)
    let (a, b, relay) = (
      Replica.empty(1), Replica.empty(2), Replica.empty(3)
    )
    for replica in [a, b] {
      try replica.save {
        $0.apply(.count(CounterEdit(by: 5)), to: gauge, of: Sailor.ada)
      }
      let sent = try #require(replica.delta())
      #expect(!relay.apply(try Delta(decoding: sent.encoded())).hasFaults)
    }
    try relay.save {
      $0.apply(.count(CounterEdit(by: 1)), to: plain, of: Sailor.ada)
    }
    let relayed = try Delta(decoding: #require(relay.delta()).encoded())
    let fields = try #require(relayed.changes.first?.fields)
    #expect(fields[gauge]?.count == 10)
    #expect(fields[plain]?.count == 1)
    #expect(
      relay.record(Sailor.ada)?.count(of: FieldKey("level", .counter)) == 1)
  }

  @Test func errorNamesUnexpectedKind() throws {
    let error = try #require(fault(Replica.empty(1).state.encoded()))
    #expect(error.code == .unexpectedKind)
    #expect(error.description.contains("a delta, not a stored replica"))
  }

  @Test func foreignBytesAreRefused() {
    #expect(fault([])?.code == .truncated)
    #expect(fault(Array("hello world".utf8))?.code == .unrecognizedFormat)
  }
}
