// SPDX-License-Identifier: Apache-2.0

import Foundation
import Harness

do {
  try run(try Arguments(CommandLine.arguments.dropFirst()))
} catch {
  tell("benchmarks: \(error)")
  exit(1)
}

/// Prints a line that is not part of the result.
func tell(_ line: String) {
  FileHandle.standardError.write(Data("\(line)\n".utf8))
}

func run(_ arguments: Arguments) throws {
  if arguments.asksForHelp { return print(Arguments.help) }
  if !arguments.peers.isEmpty {
    let rows = try arguments.peers.flatMap { try [Row](readingJSONAt: $0) }
    return print(SideBySide(rows).text, terminator: "")
  }
  let earlier = try arguments.compare.map { try [Row](readingJSONAt: $0) } ?? []
  var suite = Suite()
  suite.addResidentMemory()
  suite.addFields()
  suite.addTypedFields()
  suite.addCounters()
  suite.addSets()
  suite.addExchange()
  suite.addWholeReplicas()
  suite.addMemory()
  suite.addManyDevices()
  suite.addLargeFields()
  suite.addReading()
  suite.addLongLives()
  suite.addGrowth()
  suite.addTransfers()
  suite.addStores()
  suite.addReaders()
  suite.addLists()
  suite.addHubs()
  suite.addCalls()
  suite.addEngines()
  suite.addObjects()
  suite.addPositions()
  suite.addStrategies()
  var runner = Runner(arguments.scale, progress: tell)
  let rows = try runner.run(suite, filters: arguments.filters)
  if let file = arguments.json {
    try rows.json().write(toFile: file, atomically: true, encoding: .utf8)
  }
  if let file = arguments.chart {
    try Chart(rows, of: ["W7", "W9", "W10", "W12"]).svg.write(
      toFile: file, atomically: true, encoding: .utf8)
  }
  print(Table(rows, comparing: earlier).text, terminator: "")
}
