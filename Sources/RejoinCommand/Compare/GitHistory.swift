// SPDX-License-Identifier: Apache-2.0

import Foundation
import RejoinComparison

/// The merges of a Git repository, as the system's `git` tells them.
struct GitHistory {
  /// The path of the repository.
  let repository: String

  /// The records of some files that both sides of a merge had changed, with what
  /// people made of them.
  ///
  /// - Parameter paths: Files or folders; of these, JSON and CSV files count.
  func episodes(_ paths: [String]) throws -> [Episode] {
    var episodes: [Episode] = []
    let merges = try lines(
      "rev-list", "--merges", "--min-parents=2", "--max-parents=2",
      "--reverse", "HEAD")
    for merge in merges {
      let parents = ["\(merge)^1", "\(merge)^2"]
      // Histories that have been joined without a common past have no base.
      guard
        let base = try? lines("merge-base", parents[0], parents[1]).first
      else { continue }
      // Changed on both sides.
      let files = try parents.map { parent in
        Set(
          try lines(
            "diff-tree", "-r", "--name-only", "--no-renames", "-z", base,
            parent, "--", paths: paths))
      }
      for file in files[0].intersection(files[1]).sorted() where file.isTable {
        let versions = [base] + parents + [merge]
        let blobs = versions.map { version in
          try? lines("rev-parse", "--verify", "--quiet", "\(version):\(file)")
            .first
        }
        let tables: [RecordTable]
        do {
          tables = try zip(versions, blobs).map { version, blob in
            try table(blob ?? nil, "\(version.prefix(10)):\(file)")
          }
        } catch let error as RecordTable.Failure {
          // One bad file in a long history is told, and the others are compared.
          Terminal.complain("left out: \(error)\n")
          continue
        }
        var found = RecordTable.episodes(
          "\(merge.prefix(10)):\(file)", base: tables[0], mine: tables[1],
          theirs: tables[2], resolution: tables[3],
          times: (try time(parents[0], file), try time(parents[1], file)))
        for place in found.indices {
          found[place].group = "merge"
          found[place].source = "\(repository)@\(found[place].id)"
        }
        episodes += found
      }
    }
    if merges.isEmpty {
      throw CommandError.usage("\(repository): there are no merges in HEAD")
    }
    return episodes
  }

  private func table(
    _ blob: String?, _ place: String
  ) throws -> RecordTable {
    guard let blob else { return RecordTable() }
    return try RecordTable(
      [UInt8](try run(["cat-file", "blob", blob])), named: place)
  }

  /// When a file was last changed up to a commit, in milliseconds.
  private func time(_ commit: String, _ file: String) throws -> Int64 {
    let text = try lines(
      "log", "-1", "--format=%at", commit, "--", paths: [file])
    return (text.first.flatMap { Int64($0) } ?? 0) * 1000
  }

  private func lines(
    _ arguments: String..., paths: [String] = []
  ) throws -> [String] {
    let output = try run(arguments + paths)
    return String(decoding: output, as: UTF8.self)
      .split { $0 == "\n" || $0 == "\0" }.map(String.init)
  }

  private func run(_ arguments: [String]) throws -> Data {
    let process = Process()
    let (output, complaint) = (Pipe(), Pipe())
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["git", "-C", repository] + arguments
    (process.standardOutput, process.standardError) = (output, complaint)
    do {
      try process.run()
    } catch {
      throw CommandError.failed("git cannot be run: \(error)")
    }
    let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
    let words = try complaint.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      let text = String(decoding: words, as: UTF8.self)
        .split(separator: "\n").first
      throw CommandError.usage(
        "\(repository): git \(arguments[0]): \(text ?? "it failed"); expected a "
          + "repository with merges")
    }
    return bytes
  }
}

extension String {
  /// Whether a file has records, by its name.
  fileprivate var isTable: Bool {
    [".json", ".csv"].contains { lowercased().hasSuffix($0) }
  }
}
