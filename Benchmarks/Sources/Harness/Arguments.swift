// SPDX-License-Identifier: Apache-2.0

/// The options and filters of the command line.
public struct Arguments {
  /// The help.
  public static let help = """
    benchmarks: measures the library, every row of the table of targets.

    usage: benchmarks [OPTION…] [FILTER…]

    FILTER is a row, such as W9, or a part of what is done, such as "set join".

    options:
      --quick         a hundredth of the work, once: checks bytes and results
      --json FILE     also write the rows to FILE
      --compare FILE  compare with the rows of another run
      --chart FILE    draw cost against size
      --peers FILE    measure nothing; show rows of several libraries, written by
                      `--json` and by the scripts in Peers, side by side
    """

  /// Whether the command line requests the help.
  public private(set) var asksForHelp = false
  /// The amount of work.
  public private(set) var scale = Scale.full
  /// The path of the file for rows.
  public private(set) var json: String?
  /// The rows to compare with.
  public private(set) var compare: String?
  /// The path of the file for the chart.
  public private(set) var chart: String?
  /// The rows to show side by side.
  public private(set) var peers: [String] = []
  /// Texts that select benchmarks by name.
  public private(set) var filters: [String] = []

  /// Reads the command line.
  ///
  /// - Throws: ``HarnessError`` for an unknown option.
  public init(_ words: some Sequence<String>) throws(HarnessError) {
    var words = words.makeIterator()
    func file(after option: String) throws(HarnessError) -> String {
      guard let file = words.next() else {
        throw HarnessError("\(option) needs a file; see --help")
      }
      return file
    }
    while let word = words.next() {
      switch word {
      case "--help", "-h": asksForHelp = true
      case "--quick": scale = .quick
      case "--json": json = try file(after: word)
      case "--compare": compare = try file(after: word)
      case "--chart": chart = try file(after: word)
      case "--peers": peers.append(try file(after: word))
      case "--filter": filters.append(try file(after: word))
      case _ where word.hasPrefix("-"):
        throw HarnessError("there is no option \(word); see --help")
      default: filters.append(word)
      }
    }
  }
}
