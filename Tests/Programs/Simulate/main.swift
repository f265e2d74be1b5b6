// SPDX-License-Identifier: Apache-2.0

// Searches the library for faults, and prints the shortest script of one:
//
//   Simulate [--nightly] [--seconds=T] [--seed=S] [--seeds=N] [--report=FILE]
//
// Two searches run in parallel. The first tries hours of sync engines whose lines
// fail, one for each seed. Then its explorer tries every interleaving of a few saves
// on three replicas with messages that are delayed, split, duplicated and relayed,
// and with wrong clocks. The second, the simulator, runs N simulations (1,000, or
// 100,000 with --nightly) of many devices for weeks, with failing networks, clocks
// and storage, from the seed S on (0). After every step, an oracle, which knows only
// which saves each device has seen, checks what the device shows.
//
// --nightly explores larger programs and simulates longer. After T seconds, no
// program or simulation starts. FILE gets the counts as Markdown. If a device
// shows something else than the oracle, the program prints a script for
// `rejoin replay` and exits with 1.

import Foundation

/// Prints to standard output, and ends the program if this fails.
private func say(_ text: String) {
  do {
    try FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
  } catch { fail("cannot write to standard output: \(error)", code: 1) }
}

private func fail(_ text: String, code: Int32) -> Never {
  try? FileHandle.standardError.write(contentsOf: Data("\(text)\n".utf8))
  exit(code)
}

private var numbers: [String: UInt64] = [:]
private var report: String?
for word in CommandLine.arguments.dropFirst() where word != "--nightly" {
  let parts = word.split(
    separator: "=", maxSplits: 1, omittingEmptySubsequences: false
  ).map(String.init)
  switch (parts.first ?? "", parts.last ?? "") {
  case ("--report", let path) where parts.count == 2 && !path.isEmpty:
    report = path
  case (let name, let value)
  where ["--seconds", "--seed", "--seeds"].contains(name):
    // Sums of two of these do not overflow.
    guard let number = UInt64(value), number <= 1_000_000_000_000 else {
      fallthrough
    }
    numbers[name] = number
  default:
    fail(
      "\"\(word)\" is not an option; write --nightly, --seconds=T, --seed=S, "
        + "--seeds=N or --report=FILE", code: 2)
  }
}

private let isNightly = CommandLine.arguments.contains("--nightly")
private let first = numbers["--seed"] ?? 0
private let count = numbers["--seeds"] ?? (isNightly ? 100_000 : 1_000)
private let result = await Search(
  isNightly: isNightly, seeds: first..<(first + count),
  deadline: numbers["--seconds"].map { .now + .seconds($0) }
).run()
say(result.text)
if let fault = result.fault { say(fault.script) }
if let report {
  do {
    try result.markdown.write(toFile: report, atomically: true, encoding: .utf8)
  } catch { fail("cannot write \(report): \(error)", code: 1) }
}
if let fault = result.fault {
  fail(
    "\(fault.what)\nThe script above shows it. Save it to a file, and run "
      + "`rejoin replay FILE`", code: 1)
}
