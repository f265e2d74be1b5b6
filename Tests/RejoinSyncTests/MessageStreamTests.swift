// SPDX-License-Identifier: Apache-2.0

import Foundation
import RejoinTesting
import Testing

@testable import Rejoin
@testable import RejoinStore
@testable import RejoinSync

/// Messages in a stream of bytes.
@Suite class MessageStreamTests: SyncSuite {
  private static let messages: [[UInt8]] = [
    [], [7], [UInt8](repeating: 1, count: 127),
    [UInt8](repeating: 2, count: 128), [UInt8](repeating: 3, count: 300_000),
  ]

  private func read(
    _ pieces: some Sequence<[UInt8]>
  ) throws -> [[UInt8]] {
    var (stream, messages) = (MessageStream(), [[UInt8]]())
    for piece in pieces {
      stream.append(piece)
      while let next = try stream.next() { messages.append(next) }
    }
    try stream.finish()
    return messages
  }

  @Test func messagesArriveInAnyPieces() throws {
    let bytes = Self.messages.flatMap(MessageStream.framed)
    #expect(try read([bytes]) == Self.messages)
    let single = try read(bytes.map { [$0] })
    #expect(single == Self.messages)
    var random = SeededRandom(seed: 66)
    for _ in 0..<20 {
      var (pieces, rest) = ([[UInt8]](), bytes[...])
      while !rest.isEmpty {
        let count = 1 + random.number(below: 90_000)
        pieces.append(Array(rest.prefix(count)))
        rest = rest.dropFirst(count)
      }
      #expect(try read(pieces) == Self.messages)
    }
  }

  @Test func endInsideMessageThrows() throws {
    for message in Self.messages.dropFirst() {
      let bytes = MessageStream.framed(message)
      for count in Set([1, 2, bytes.count / 2, bytes.count - 1])
      where count < bytes.count {
        let error = #expect(throws: WireError.self) {
          try self.read([Array(bytes.prefix(count))])
        }
        #expect(error?.code == .truncated)
      }
    }
  }

  @Test func lengthAboveLimitThrows() throws {
    let lengths: [[UInt8]] = [
      // 40 MiB and one byte, 2⁶³, and numbers that do not end.
      [0x81, 0x80, 0x80, 0x14], [UInt8](repeating: 0x80, count: 9) + [1],
      [UInt8](repeating: 0xff, count: 11),
      [UInt8](repeating: 0x80, count: 1_000),
    ]
    for bytes in lengths {
      for pieces in [[bytes], bytes.map { [$0] }] {
        let error = #expect(throws: WireError.self) {
          try self.read(pieces)
        }
        #expect(error?.code == .invalid)
      }
    }
    // The limit itself is a length.
    #expect(throws: WireError.self) {
      try self.read([[0x80, 0x80, 0x80, 0x14]])
    }
  }

  @Test func anyBytesAreMessagesOrAnError() throws {
    var random = SeededRandom(seed: 7)
    var (ends, errors) = (0, 0)
    for _ in 0..<20_000 {
      let bytes = (0..<random.number(below: 12)).map { _ in
        UInt8(
          random.number(below: 8) == 0
            ? 128 + random.number(below: 128) : random.number(below: 4))
      }
      do {
        let messages = try read(bytes.map { [$0] })
        ends += 1
        #expect(messages.map(\.count).reduce(0, +) <= bytes.count)
      } catch is WireError { errors += 1 }
    }
    #expect(ends > 1_000 && errors > 1_000)
  }

  /// Both sides ask over pipes with small buffers, with a record of 16 MiB each.
  @Test func largeRecordsPassThroughSmallPipes() async throws {
    let (phone, tablet) = (try await store("phone"), try await store("tablet"))
    // The limit of a record includes its key and its dot.
    let size = (16 << 20) - 1_024
    let long = String(repeating: "r", count: size)
    try await phone.write(long, to: "phone")
    try await tablet.write(long, to: "tablet")
    let (there, back) = (Pipe(), Pipe())
    #if os(Linux)
      let setPipeSize: Int32 = 1031  // F_SETPIPE_SZ
      for pipe in [there, back] {
        let size = fcntl(
          pipe.fileHandleForWriting.fileDescriptor, setPipeSize, 4_096)
        #expect(size == 4_096)
      }
    #endif
    let links = [
      PipeLink(
        phone, receiving: back.fileHandleForReading,
        sending: there.fileHandleForWriting),
      PipeLink(
        tablet, receiving: there.fileHandleForReading,
        sending: back.fileHandleForWriting),
    ]
    async let first = phone.sync(scope: "s") { try await links[0].ask($0) }
    async let second = tablet.sync(scope: "s") { try await links[1].ask($0) }
    let results = try await [first, second]
    #expect(results.map(\.isUploaded) == [true, true])
    for store in [phone, tablet] {
      #expect(
        await store.titles.map { $0?.utf8.count } == [size, size])
    }
    for link in links { link.close() }
  }
}

/// Requests and answers in both directions over two pipes.
private final class PipeLink: Sendable {
  private let output: FileHandle
  private let answers: AsyncStream<[UInt8]>
  /// One message is written at a time.
  private let writing = DispatchQueue(label: "pipe")

  init(
    _ store: ReplicaStore, receiving input: FileHandle,
    sending output: FileHandle
  ) {
    self.output = output
    let (answers, continuation) = AsyncStream.makeStream(of: [UInt8].self)
    self.answers = answers
    Thread { [self] in
      var stream = MessageStream()
      while case let piece = input.availableData, !piece.isEmpty {
        stream.append(piece)
        while let message = try? stream.next() {
          // The kind distinguishes answers from requests.
          if (try? SyncMessage(decoding: message))?.kind == .answer {
            continuation.yield(message)
          } else {
            Task { await self.send(store.answer(message, scope: "s")) }
          }
        }
      }
      continuation.finish()
    }.start()
  }

  func ask(_ request: [UInt8]) async throws -> [UInt8] {
    await send(request)
    for await answer in answers { return answer }
    throw Offline()
  }

  private func send(_ message: [UInt8]) async {
    let bytes = MessageStream.framed(message)
    await withCheckedContinuation { done in
      writing.async {
        self.output.write(Data(bytes))
        done.resume()
      }
    }
  }

  func close() { try? output.close() }
}
