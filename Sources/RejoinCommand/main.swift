//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

import Foundation

let arguments = CommandLine.arguments.dropFirst()
if arguments.first == "replay", let file = arguments.dropFirst().first {
  do {
    let text = try String(contentsOfFile: file, encoding: .utf8)
    try Replay.run(text) { print($0) }
  } catch let error as ScriptError {
    FileHandle.standardError.write(Data("\(file): \(error)\n".utf8))
    exit(2)
  }
}
