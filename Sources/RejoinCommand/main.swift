// SPDX-License-Identifier: Apache-2.0

import Foundation
import RejoinComparison

Terminal.open()
do {
  try await Commands.run(Array(CommandLine.arguments.dropFirst()))
} catch let error as CommandError {
  Terminal.complain("rejoin: \(error.message.printable)\n")
  exit(error.exitCode)
} catch {
  Terminal.complain("rejoin: \("\(error)".printable)\n")
  exit(1)
}
