// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The head of a request that the development server accepts.
struct HTTPHead {
  private static let (sizeLimit, bodyLimit) = (16 << 10, 40 << 20)
  /// The offsets of the body in the request.
  let body: Range<Int>

  /// Reads the head of a request, or returns `nil` if it is not complete.
  init?(startOf bytes: [UInt8]) throws(HTTPRefusal) {
    let start = bytes.prefix(HTTPHead.sizeLimit)
    guard let end = start.firstRange(of: Array("\r\n\r\n".utf8)) else {
      if bytes.count < HTTPHead.sizeLimit { return nil }
      throw HTTPRefusal(status: "431 Request Header Fields Too Large")
    }
    let text = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
    let lines = text.components(separatedBy: "\r\n")
    let invalid = HTTPRefusal(status: "400 Bad Request")
    guard let line = lines[0].wholeMatch(of: /([!-~]+) \/[!-~]* HTTP\/1\.[01]/)
    else { throw invalid }
    var fields: [String: [String]] = [:]
    for line in lines.dropFirst() {
      let field = line.wholeMatch(of: /([!-9;-~]+):[ \t]*(.*?)[ \t]*/)
      guard let field else { throw invalid }
      fields[field.1.lowercased(), default: []].append(String(field.2))
    }
    let host = (fields["host"] ?? []).joined(separator: ",").lowercased()
    let isLocal = host.wholeMatch(of: /(127\.0\.0\.1|localhost)(:[0-9]+)?/)
    let lengths = fields["content-length"] ?? []
    let digits = lengths.count == 1 ? lengths[0].wholeMatch(of: /[0-9]+/) : nil
    let length = digits.flatMap { Int($0.0) }
    for (isRefused, status) in [
      (line.1 != "POST", "405 Method Not Allowed"),
      // A web page of another site in a browser on this machine.
      (isLocal == nil || fields["origin"] != nil, "403 Forbidden"),
      (fields["transfer-encoding"] != nil, "501 Not Implemented"),
      (fields["expect"] != nil, "417 Expectation Failed"),
      (lengths.isEmpty, "411 Length Required"),
      (length == nil, invalid.status),
      (length ?? 0 > HTTPHead.bodyLimit, "413 Content Too Large"),
    ] where isRefused { throw HTTPRefusal(status: status) }
    body = end.upperBound..<(end.upperBound + (length ?? 0))
  }
}

/// The status that refuses a request.
struct HTTPRefusal: Error { let status: String }
