// SPDX-License-Identifier: Apache-2.0

public import Foundation
import Rejoin

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

// The only file of the module that needs Foundation's networking.
extension SyncRoute {
  /// Creates a route that sends each request as the body of a POST.
  ///
  ///     let route = SyncRoute.http("server", scope: "list-17", url: url) {
  ///       $0.setValue("Bearer \(try await token())", forHTTPHeaderField: "Authorization")
  ///     }
  ///
  /// The body of a response with the status 200 is the answer, also if it is a
  /// refusal. The statuses 401 and 403 count as ``SyncRefusal/denied``, 410 as
  /// ``SyncRefusal/gone``, 413 as ``SyncRefusal/tooLarge``, and 429 and 503 as
  /// ``SyncRefusal/busy(seconds:)``. After any other response, the engine tries again
  /// later: a wrong deployment must not look like a deleted scope.
  ///
  /// A redirect is not followed, because it could send the records to another host.
  ///
  /// - Parameters:
  ///   - name: The name, which is unique in an engine.
  ///   - scope: The name of the scope, as the server knows it.
  ///   - url: The address of the handler.
  ///   - session: The session that sends the requests.
  ///   - prepare: A closure that adds headers to a request, such as a token.
  public static func http(
    _ name: String, scope: String, url: URL, session: URLSession = .shared,
    preparing prepare:
      @escaping @Sendable (inout URLRequest) async throws -> Void = { _ in }
  ) -> SyncRoute {
    SyncRoute(name, scope: scope) { bytes in
      var request = URLRequest(url: url)
      request.httpMethod = "POST"
      request.setValue(
        "application/octet-stream", forHTTPHeaderField: "Content-Type")
      request.cachePolicy = .reloadIgnoringLocalCacheData
      try await prepare(&request)
      request.httpBody = Data(bytes)
      let (data, response) = try await session.data(
        for: request, delegate: NoRedirects())
      return try HTTPAnswer(data, response).bytes
    }
  }
}

/// The error of a response that is no answer.
public struct HTTPRouteError: Error, Hashable, Sendable {
  /// The status of the response, or `nil` if it was no response of HTTP.
  public let status: Int?
}

extension HTTPRouteError: CustomStringConvertible {
  /// The reason and its remedy.
  public var description: String {
    guard let status else { return "The server did not answer with HTTP." }
    return
      "The server answered with the status \(status). Check the address of "
      + "the route, and that the server passes the body to `answer`."
  }
}

/// The answer in a response.
private struct HTTPAnswer {
  /// The maximum number of bytes of an answer.
  private static let limit = 40 << 20

  let bytes: [UInt8]

  init(_ data: Data, _ response: URLResponse) throws {
    guard let response = response as? HTTPURLResponse else {
      throw HTTPRouteError(status: nil)
    }
    switch response.statusCode {
    case 200 where data.count <= HTTPAnswer.limit: bytes = Array(data)
    case 401, 403: throw SyncRefusal.denied
    case 410: throw SyncRefusal.gone
    case 413: throw SyncRefusal.tooLarge
    case 429, 503:
      let seconds = response.value(forHTTPHeaderField: "Retry-After")
      throw SyncRefusal.busy(seconds: seconds.flatMap { Int($0) } ?? 0)
    default: throw HTTPRouteError(status: response.statusCode)
    }
  }
}

private final class NoRedirects: NSObject, URLSessionTaskDelegate, Sendable {
  func urlSession(
    _ session: URLSession, task: URLSessionTask,
    willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest,
    completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    completionHandler(nil)
  }
}
