// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import RejoinComparison

@Suite(.serialized) struct PageTests {
  private func page(
    _ episode: Episode, _ strategies: [any Contender] = Strategies.usual
  ) throws -> String {
    let result = try Comparison(strategies, triesBothOrders: true)
      .run([episode])
    return try Page([(.records, result)], episode: episode).html()
  }

  /// The page needs no other files, and strikes lost edits through.
  @Test func pageShowsTimelineOfEpisode() throws {
    let text = try page(WorkedExample.person.episode)
    #expect(!text.contains("<script") && !text.contains("http"))
    #expect(
      text.contains(
        "<del>sets address to &quot;123 Sesame St&quot;</del>; "
          + "<del>sets phone to &quot;(650) 253-0000&quot;</del>"))
    #expect(
      text.contains(
        "sets address to &quot;123 Sesame St&quot;; "
          + "<ins>sets phone to &quot;(650) 253-0000&quot;</ins> (kept"))
    #expect(text.contains("lost: <ins>nothing</ins>"))
    #expect(text.contains("<div class=\"lost\" style=\"width:50.0%\">"))
  }

  @Test func pageMarksLostIncrementsAndElements() throws {
    #expect(
      try page(WorkedExample.steps.episode).contains(
        "<del>adds 1,200 to steps</del>"))
    #expect(
      try page(WorkedExample.tags.episode).contains(
        "<del>inserts &quot;sunny&quot; into tags</del>"))
  }

  /// Names and values come from files of any author.
  @Test func pageEscapesNamesAndValues() throws {
    let bad = "<img src=x onerror=alert(1)>\u{1b}\u{202e}&\""
    var edit = Episode.Edit(bad, at: 1)
    edit.set = [bad: .string(bad)]
    let episode = Episode(id: bad, base: [bad: .text(bad)], edits: [edit])
    let text = try page(episode)
    #expect(!text.contains("<img") && !text.contains("\u{1b}"))
    #expect(text.contains("&lt;img src=x onerror=alert(1)&gt;\\u{1B}"))
  }

  /// An episode that gives every column a figure.
  private static var resolved: Episode {
    var episode = WorkedExample.person.episode
    episode.resolution = episode.base.map(Episode.Resolution.record)
    return episode
  }

  /// An installed browser that can run within the limits of memory and sandbox.
  private static let browser = ["chromium", "google-chrome"]
    .map { "/usr/bin/\($0)" }
    .filter(FileManager.default.isExecutableFile)
    .first { browser in
      (try? document(of: "about:blank", in: browser))?.contains("<html>")
        ?? false
    }

  /// Returns the document that a browser shows after its scripts ran.
  private static func document(
    of address: String, in browser: String, width: Int = 500
  ) throws -> String {
    let profile = FileManager.default.temporaryDirectory.appending(
      path: "rejoin-\(UUID())")
    defer { try? FileManager.default.removeItem(at: profile) }
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: browser)
    process.arguments = [
      "--headless", "--no-sandbox", "--disable-gpu",
      "--disable-dev-shm-usage", "--no-first-run",
      "--user-data-dir=\(profile.path)", "--window-size=\(width),900",
      "--dump-dom", address,
    ]
    (process.standardOutput, process.standardError) = (
      output, FileHandle.nullDevice
    )
    try process.run()
    let shown = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return String(decoding: shown, as: UTF8.self)
  }

  /// A browser shows the page without scrolling it sideways, and without scrolling
  /// a table at 1,280 points.
  @Test(.enabled(if: browser != nil), arguments: [500, 1280])
  func browserShowsPage(width: Int) throws {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "rejoin-\(UUID())")
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "page.html")
    // Only this test adds a script that checks the widths.
    let text = try page(Self.resolved, Strategies.all).replacing(
      "</body>",
      with: """
        <script>document.title = "width " + (document.documentElement
          .scrollWidth <= innerWidth) + " " + (innerWidth < 1280
          || [...document.querySelectorAll(".wide")].every(
            (e) => e.scrollWidth <= e.clientWidth)) + " " + getComputedStyle(
          document.querySelector("del")).textDecorationLine</script></body>
        """)
    try Data(text.utf8).write(to: file)
    let shown = try Self.document(
      of: file.absoluteString, in: Self.browser ?? "", width: width)
    #expect(shown.contains("<title>width true true line-through</title>"))
  }
}
