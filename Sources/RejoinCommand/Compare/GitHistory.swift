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
  func episodes(
    _ paths: [String], _ kinds: DeclaredKinds = DeclaredKinds()
  ) throws -> [Episode] {
    let merges = try lines(
      "rev-list", "--merges", "--min-parents=2", "--max-parents=2",
      "--reverse", "HEAD")
    if merges.isEmpty {
      throw CommandError.usage(
        "\(repository): HEAD has no merges of two parents; expected some")
    }
    var line = ProgressLine("reading merges", of: merges.count)
    defer { line.finish() }
    var (episodes, crossed) = ([Episode](), 0)
    for (place, merge) in merges.enumerated() {
      line.update(place)
      let bases =
        (try? lines("merge-base", "--all", merge + "^1", merge + "^2")) ?? []
      if bases.count == 1 {
        episodes += try self.episodes(of: merge, since: bases[0], paths, kinds)
      } else {
        crossed += 1
      }
    }
    if crossed > 0 {
      // Each of several pasts has changes that the others lack.
      Terminal.tellLeftOut(
        "\(crossed) of the merges: their parents have no common past, or several"
      )
    }
    return episodes
  }

  private func episodes(
    of merge: String, since base: String, _ paths: [String],
    _ kinds: DeclaredKinds
  ) throws -> [Episode] {
    let parents = ["\(merge)^1", "\(merge)^2"]
    // Changed on both sides.
    let files = try parents.map { parent in
      Set(
        try lines(
          "diff-tree", "-r", "--name-only", "--no-renames", "-z", base, parent,
          "--", paths: paths, end: 0))
    }
    return try files[0].intersection(files[1]).sorted().filter(\.isTable)
      .flatMap { file in
        do {
          return try self.episodes(of: file, [base] + parents + [merge], kinds)
        } catch let error as RecordTable.Failure {
          // One bad file in a long history is told, and the others are compared.
          Terminal.tellLeftOut("\(error)")
          return []
        }
      }
  }

  /// - Parameter versions: The base, the two parents, and the merge.
  private func episodes(
    of file: String, _ versions: [String], _ kinds: DeclaredKinds
  ) throws -> [Episode] {
    let merge = versions[3].prefix(10)
    let blobs = versions.map { version in
      let object = try? lines(
        "rev-parse", "--verify", "--quiet", "\(version):\(file)")
      return object?.first.flatMap { try? run(["cat-file", "blob", $0]) }
    }
    // Who has renamed a file has not deleted its records.
    if blobs.dropFirst().contains(nil) {
      throw RecordTable.Failure(
        "\(merge):\(file)", "it is not a file on both sides and in the merge",
        "one that is")
    }
    let tables = try RecordTable.versions(
      zip(versions, blobs).map { version, blob in
        (blob.map { [UInt8]($0) }, "\(version.prefix(10)):\(file)")
      })
    var episodes = try RecordTable.episodes(
      "\(merge):\(file)", base: tables[0], mine: tables[1], theirs: tables[2],
      resolution: tables[3],
      times: (try time(versions[1], file), try time(versions[2], file)),
      kinds: kinds)
    for place in episodes.indices {
      episodes[place].group = "merge"
      episodes[place].source = "\(repository)@\(episodes[place].id)"
    }
    return episodes
  }

  /// When a file was last changed up to a commit, in milliseconds.
  private func time(_ commit: String, _ file: String) throws -> Int64 {
    // Not `log`, which may run what the repository's configuration names.
    let text = try lines(
      "rev-list", "-1", "--format=%at", commit, "--",
      paths: [":(top,literal)" + file])
    let seconds = text.last.flatMap { Int64($0) } ?? 0
    // No later than a hybrid clock can tell.
    return min(max(seconds, 0), 1 << 37) * 1000
  }

  private func lines(
    _ arguments: String..., paths: [String] = [], end: UInt8 = 0x0a
  ) throws -> [String] {
    try run(arguments + paths).split(separator: end)
      .map { String(decoding: $0, as: UTF8.self) }
  }

  private func run(_ arguments: [String]) throws -> Data {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments =
      ["git", "-C", repository, "-c", "core.fsmonitor=false"] + arguments
    // Git's own variables would lead to another repository; and nothing is to be
    // fetched for what is only read.
    process.environment = ProcessInfo.processInfo.environment
      .filter { key, _ in
        !key.hasPrefix("GIT_") || key.hasPrefix("GIT_CONFIG_")
      }
      .merging(["GIT_ALLOW_PROTOCOL": "none"]) { $1 }
    process.standardOutput = output
    do {
      try process.run()
    } catch {
      throw CommandError.failed("git cannot be run: \(error)")
    }
    let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw CommandError.usage(
        "\(repository): git \(arguments[0]) failed; expected a repository with "
          + "merges")
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
