// SPDX-License-Identifier: Apache-2.0

public import Foundation
import Rejoin

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

// The only file of the module that imports Foundation.
extension SyncRoute {
  /// Creates a route that sends each request as the body of a POST.
  ///
  ///     let route = SyncRoute.http("server", scope: "list-17", url: url) {
  ///       $0.setValue("Bearer \(try await token())", forHTTPHeaderField: "Authorization")
  ///     }
  ///
  /// The body of a response with the status 200 is the answer, also if it is a
  /// refusal. Other statuses come from a proxy or from the app:
  ///
  /// | Status | Error |
  /// |---|---|
  /// | 401, 403 | ``SyncRefusal/denied`` |
  /// | 410 | ``SyncRefusal/gone`` |
  /// | 413 | ``SyncRefusal/tooLarge`` |
  /// | 429, 503 | ``SyncRefusal/busy(seconds:)`` with the seconds of `Retry-After` |
  /// | Any other, such as 404 | ``HTTPRouteError``, after which the engine tries again |
  ///
  /// A missing page is not ``SyncRefusal/gone``, because a wrong deployment must not
  /// look like an erased scope. The route does not follow redirects, which could send
  /// the records to another host.
  ///
  /// - Parameters:
  ///   - name: The name, which is unique in an engine.
  ///   - scope: The name of the scope, as the server knows it.
  ///   - url: The address of the handler.
  ///   - session: The session that sends the requests. Its configuration has the time
  ///     limits. On Linux, only its configuration counts.
  ///   - prepare: A closure that adds headers to a request, such as a token. It runs
  ///     before each request. The engine handles its errors as errors of the route.
  public static func http(
    _ name: String, scope: String, url: URL, session: URLSession = .shared,
    preparing prepare:
      @escaping @Sendable (inout URLRequest) async throws -> Void = { _ in }
  ) -> SyncRoute {
    let client = HTTPClient(like: session)
    return SyncRoute(name, scope: scope) { bytes in
      var request = URLRequest(url: url)
      request.httpMethod = "POST"
      request.setValue(
        "application/octet-stream", forHTTPHeaderField: "Content-Type")
      request.cachePolicy = .reloadIgnoringLocalCacheData
      try await prepare(&request)
      request.httpBody = Data(bytes)
      return try await client.answer(to: request)
    }
  }
}

/// An error that describes a response without an answer.
public enum HTTPRouteError: Error, Hashable, Sendable {
  /// The response has another status than those of a route.
  case status(Int)
  /// The response has more bytes than an answer.
  case tooLarge
  /// The URL is not one of HTTP.
  case notHTTP
}

extension HTTPRouteError: CustomStringConvertible {
  /// The reason and its remedy.
  public var description: String {
    switch self {
    case .status(let status):
      "The server answered with the status \(status). Check the URL of the route, "
        + "and that the server passes the body to `answer`."
    case .tooLarge:
      "The response of the server has more than \(SyncMessage.exchangeLimit) bytes. "
        + "Check the URL of the route."
    case .notHTTP:
      "The URL of the route is not one of HTTP. Use `https`."
    }
  }
}

extension URLResponse {
  /// Throws an error unless the body is an answer.
  fileprivate func check() throws {
    guard let response = self as? HTTPURLResponse else {
      throw HTTPRouteError.notHTTP
    }
    switch response.statusCode {
    case 200:
      if expectedContentLength > Int64(SyncMessage.exchangeLimit) {
        throw HTTPRouteError.tooLarge
      }
    case 401, 403: throw SyncRefusal.denied
    case 410: throw SyncRefusal.gone
    case 413: throw SyncRefusal.tooLarge
    case 429, 503:
      let seconds = response.value(forHTTPHeaderField: "Retry-After")
      throw SyncRefusal.busy(seconds: seconds.flatMap { Int($0) } ?? 0)
    default: throw HTTPRouteError.status(response.statusCode)
    }
  }
}

#if canImport(FoundationNetworking)
  /// A session whose delegate follows no redirect and ends a response that is too
  /// large.
  ///
  /// Foundation on Linux follows redirects of tasks with a completion handler without
  /// asking the delegate.
  private final class HTTPClient: Sendable {
    private let session: URLSession
    private let responses = Responses()

    init(like session: URLSession) {
      self.session = URLSession(
        configuration: session.configuration, delegate: responses,
        delegateQueue: nil)
    }

    deinit { session.invalidateAndCancel() }

    /// Sends a request, and returns the answer in its response.
    func answer(to request: URLRequest) async throws -> [UInt8] {
      let task = session.dataTask(with: request)
      let bytes = try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation {
          responses.add($0, of: task)
          task.resume()
        }
      } onCancel: {
        task.cancel()
      }
      guard let response = task.response else { throw HTTPRouteError.notHTTP }
      try response.check()
      return bytes
    }
  }

  private final class Responses: NSObject, URLSessionDataDelegate, Sendable {
    private struct Response {
      var bytes: [UInt8] = []
      let continuation: CheckedContinuation<[UInt8], any Error>
    }

    private let open = Locked<[Int: Response]>([:])

    func add(
      _ continuation: CheckedContinuation<[UInt8], any Error>,
      of task: URLSessionTask
    ) {
      open.withLock {
        $0[task.taskIdentifier] = Response(continuation: continuation)
      }
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask,
      willPerformHTTPRedirection response: HTTPURLResponse,
      newRequest request: URLRequest,
      completionHandler: @escaping (URLRequest?) -> Void
    ) {
      completionHandler(nil)
    }

    func urlSession(
      _ session: URLSession, dataTask task: URLSessionDataTask,
      didReceive data: Data
    ) {
      let tooLarge: Response? = open.withLock { open in
        guard var response = open.removeValue(forKey: task.taskIdentifier)
        else { return nil }
        response.bytes += data
        if response.bytes.count > SyncMessage.exchangeLimit { return response }
        open[task.taskIdentifier] = response
        return nil
      }
      guard let tooLarge else { return }
      task.cancel()
      tooLarge.continuation.resume(throwing: HTTPRouteError.tooLarge)
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask,
      didCompleteWithError error: (any Error)?
    ) {
      let response = open.withLock {
        $0.removeValue(forKey: task.taskIdentifier)
      }
      if let error {
        response?.continuation.resume(throwing: error)
      } else {
        response?.continuation.resume(returning: response?.bytes ?? [])
      }
    }
  }
#else
  private struct HTTPClient: Sendable {
    private let session: URLSession

    init(like session: URLSession) { self.session = session }

    /// Sends a request, and returns the answer in its response.
    func answer(to request: URLRequest) async throws -> [UInt8] {
      let (stream, response) = try await session.bytes(
        for: request, delegate: NoRedirects())
      try response.check()
      var bytes: [UInt8] = []
      for try await byte in stream {
        bytes.append(byte)
        if bytes.count > SyncMessage.exchangeLimit {
          throw HTTPRouteError.tooLarge
        }
      }
      return bytes
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
#endif
