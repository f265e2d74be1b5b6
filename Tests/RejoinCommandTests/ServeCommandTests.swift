// SPDX-License-Identifier: Apache-2.0

import Foundation
import Rejoin
import RejoinStore
import RejoinSync
import Testing

/// `rejoin serve --stdio`, and the arguments of `rejoin serve`.
@Suite struct ServeCommandTests {
  private let folder: Folder

  init() throws { folder = try Folder() }

  /// Returns a request of a new store in a file, with its length.
  private func writeRequest(to name: String) async throws {
    let store = try await ReplicaStore.inMemory(schema: [])
    let url = folder.url.appending(path: name)
    _ = try? await store.sync(scope: "notes") { request in
      try Data(MessageStream.framed(request)).write(to: url)
      throw CancellationError()
    }
  }

  /// Returns the answers in a file.
  private func answers(in name: String) throws -> [SyncMessage] {
    var stream = MessageStream()
    stream.append(try Data(contentsOf: folder.url.appending(path: name)))
    var answers: [SyncMessage] = []
    while let answer = try stream.next() {
      answers.append(try SyncMessage(decoding: answer))
    }
    try stream.finish()
    return answers
  }

  @Test(arguments: [
    "cat request request request",
    // Single bytes, each written alone.
    "for _ in 1 2 3; do for ((i = 1; i <= $(wc -c < request); i++)); do "
      + "head -c $i request | tail -c 1; done; done",
  ])
  func answersRequests(writer: String) async throws {
    try await writeRequest(to: "request")
    let printed = try await shell(
      "{ \(writer); } | rejoin serve --stdio hub.sqlite > answers", in: folder)
    #expect(printed.code == 0 && printed.text == "", "\(printed.text)")
    let answers = try answers(in: "answers")
    #expect(answers.count == 3)
    #expect(answers.allSatisfy { $0.kind == .answer && $0.version != nil })
  }

  /// `Tests/Checks/Hub/run` sets a connection string.
  @Test(
    .enabled(
      if: ProcessInfo.processInfo.environment["REJOIN_POSTGRESQL"] != nil))
  func servesHubInPostgreSQL() async throws {
    let text = ProcessInfo.processInfo.environment["REJOIN_POSTGRESQL"] ?? ""
    let parameters = text.split(separator: " ").joined(separator: "&")
    try await writeRequest(to: "request")
    let printed = try await shell(
      "cat request request | rejoin serve --stdio 'postgresql:///?\(parameters)' "
        + "> answers", in: folder)
    #expect(printed.code == 0 && printed.text == "", "\(printed.text)")
    #expect(try answers(in: "answers").count { $0.version != nil } == 2)
  }

  @Test func answersBeforeInputEnds() async throws {
    try await writeRequest(to: "request")
    // The second request follows the answer to the first one.
    let printed = try await shell(
      """
      mkfifo pipe
      { cat request; for _ in {1..600}; do [ -s answers ] && break; sleep 0.1; done
      [ -s answers ] && cat request; } > pipe &
      rejoin serve hub.sqlite --stdio < pipe > answers
      """, in: folder)
    #expect(printed.code == 0 && printed.text == "", "\(printed.text)")
    #expect(try answers(in: "answers").count == 2)
  }

  @Test func answersDamagedRequestsWithRefusals() async throws {
    let printed = try await shell(
      #"printf '\x00\x02ab\x01c' | rejoin serve --stdio hub.sqlite > answers"#,
      in: folder)
    #expect(printed.code == 0 && printed.text == "", "\(printed.text)")
    let answers = try answers(in: "answers")
    #expect(answers.map(\.refusal) == [.damaged, .damaged, .damaged])
  }

  @Test func emptyInputEndsWithoutOutput() async throws {
    let printed = try await shell(
      "rejoin serve --stdio hub.sqlite < /dev/null", in: folder)
    #expect(printed.code == 0 && printed.text == "", "\(printed.text)")
  }

  @Test(arguments: [#"\x03ab"#, #"\x80"#, #"\x02ab\x01"#, #"\xff\xff\xff\x01"#])
  func endInsideMessageFails(bytes: String) async throws {
    let printed = try await shell(
      "printf '\(bytes)' | rejoin serve --stdio hub.sqlite > answers",
      in: folder)
    #expect(printed.code == 1)
    #expect(
      printed.text == "rejoin: standard input ends inside a message; send each "
        + "message completely\n")
    // A request before the end has its answer.
    #expect(
      try answers(in: "answers").count
        == (bytes.count > 8 && bytes.contains("ab") ? 1 : 0))
  }

  /// 40 MiB and a byte, and varints of 5 and 11 bytes.
  @Test(arguments: [
    #"\x81\x80\x80\x14"#, #"\xff\xff\xff\xff\x0f"#,
    #"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"#,
  ])
  func lengthAboveLimitFails(bytes: String) async throws {
    // The input has no end, which the command does not wait for.
    let printed = try await shell(
      "{ printf '\(bytes)'; cat /dev/zero; } | rejoin serve --stdio hub.sqlite",
      in: folder)
    #expect(printed.code == 1)
    #expect(
      printed.text.hasPrefix(
        "rejoin: the length of a message is above the limit of 40 MiB; "))
  }

  @Test func closedOutputFails() async throws {
    let printed = try await shell(
      #"""
      { while printf '\x02ab'; do :; done 2> /dev/null; } |
        { rejoin serve --stdio hub.sqlite; echo "exit code $?" >&2; } | true
      """#, in: folder)
    #expect(
      printed.text == """
        rejoin: cannot write to standard output: Broken pipe; read each answer
        exit code 1

        """)
  }

  @Test(arguments: [
    "", "hub.sqlite", "--stdio", "hub.sqlite --stdio --port 0", "a b --stdio",
    "hub.sqlite --port", "hub.sqlite --port 65536", "hub.sqlite --port -1",
    "hub.sqlite --port x", "hub.sqlite --stdio=yes", "- --stdio",
    ":memory: --stdio",
  ])
  func wrongArgumentsExitWithTwo(words: String) async throws {
    let printed = try await shell(
      "rejoin serve \(words) < /dev/null", in: folder)
    #expect(printed.code == 2, "\(printed.text)")
    #expect(printed.text.hasPrefix("rejoin: "))
  }

  @Test(arguments: [
    ("no/such.sqlite", "unable to open database file"),
    ("/tmp", "unable to open database file"),
    ("text", "file is not a database"),
    ("postgresql://user:secret@127.0.0.1:1/hub", "the PostgreSQL database"),
  ])
  func unusableDatabaseFails(file: String, reason: String) async throws {
    try folder.write(String(repeating: "text ", count: 1_000), to: "text")
    for option in ["--stdio", "--port=0"] {
      let printed = try await shell(
        "rejoin serve '\(file)' \(option) < /dev/null", in: folder)
      #expect(printed.code == 1)
      #expect(printed.text.hasPrefix("rejoin: "))
      #expect(printed.text.contains(reason), "\(printed.text)")
      #expect(!printed.text.contains("secret"))
    }
  }

  @Test func helpNamesRights() throws {
    let text = try rejoin("serve", "--help").text
    #expect(text.contains("may read\nand write every scope"))
    #expect(text.contains("ssh host rejoin serve --stdio hub.sqlite"))
    #expect(text.contains("not for the internet"))
  }
}
