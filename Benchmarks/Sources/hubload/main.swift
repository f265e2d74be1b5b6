// SPDX-License-Identifier: Apache-2.0

// Measures a hub under load, with many records, and under attack.
//
// The scripts in `Benchmarks/Load` start the databases and this program.

import Foundation

let usage = """
  usage: hubload load LABEL DATABASE [SECONDS]
         hubload answers DATABASE [REQUESTS]
         hubload acknowledgments DATABASE [SECONDS]
         hubload growth DATABASE RECORDS…
         hubload hostile DATABASE KIND [SECONDS [FRACTION [RATE]]]

  DATABASE is a libpq connection string, or `sqlite:` and the path of a file.

  load     Prints a line for each number of clients, once with a shared scope and
           once with a scope per client: the label, the database, the scopes, the
           clients, the syncs per second, the 50th and 99th percentile of a sync
           in milliseconds, and the saves delivered per second. A sync is a save
           and four requests: `version`, `apply`, `recordVersion` and
           `delta(since:)`. A save is delivered to each other client of its scope,
           so with more clients, each sync brings more saves.
  answers  Prints a line for each of five pairs of turns, and one with the medians:
           the database, the clients, each in its own scope, the requests per
           second with `answer` and with the calls that it replaces, and the ratio,
           which should be 0.8 or more. Each client sends REQUESTS with a save.
  acknowledgments
           Prints a line for one client and for 64 in one scope, which save once a
           second each: the database, the clients, the saves, the 50th and 99th
           percentile of the time until `answer` shows a save, in milliseconds, and
           the 99th divided by that of one client, which should be 20 or less. One
           client saves 64 times a second.
  growth   Prints a line for each number of records in a scope. The hub runs in a
           process of its own, whose peak memory is measured.
  hostile  Prints a line with the durations of a member's syncs before, during and
           after an attack. Each phase takes SECONDS. FRACTION divides the size of
           the messages. The attacker sends RATE messages per second, and
           without a RATE as many as possible. KIND is one of these:

  \(HostileKind.allCases.map { "         \($0.rawValue)  \($0.title)" }
    .joined(separator: "\n"))
  """

func number<Number: LosslessStringConvertible>(
  _ index: Int, default value: Number
) -> Number {
  guard arguments.indices.contains(index) else { return value }
  guard let number = Number(arguments[index]) else { exitWithUsage() }
  return number
}

func exitWithUsage() -> Never {
  FileHandle.standardError.write(Data("\(usage)\n".utf8))
  exit(2)
}

let arguments = CommandLine.arguments
switch arguments.dropFirst().first {
case "load" where 4...5 ~= arguments.count:
  try await measureLoad(
    arguments[2], Database(arguments[3]), seconds: number(4, default: 5.0))
case "answers" where 3...4 ~= arguments.count:
  try await measureAnswers(
    Database(arguments[2]), requests: max(number(3, default: 50), 1))
case "acknowledgments" where 3...4 ~= arguments.count:
  try await measureAcknowledgments(
    Database(arguments[2]), seconds: max(number(3, default: 10), 1))
case "growth" where arguments.count >= 4:
  for index in 3..<arguments.count {
    try await measureGrowth(
      Database(arguments[2]), records: number(index, default: 0))
  }
case "hostile" where 4...7 ~= arguments.count:
  guard let kind = HostileKind(rawValue: arguments[3]) else { exitWithUsage() }
  try await measureAttack(
    kind, Database(arguments[2]), seconds: number(4, default: 10.0),
    fraction: number(5, default: 1),
    messagesPerSecond: arguments.count > 6 ? number(6, default: 1.0) : nil)
case "serve" where arguments.count == 3:
  try await serveStandardInput(Database(arguments[2]))
default: exitWithUsage()
}
