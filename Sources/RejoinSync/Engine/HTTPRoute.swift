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
  /// | 429, 503 | ``SyncRefusal/busy(seconds:)`` with the time of `Retry-After` |
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
  ///     limits. On Linux, only its configuration counts, and a canceled request that
  ///     is still connecting lasts until its time limit.
  ///   - prepare: A closure that adds headers to a request, such as a token. It runs
  ///     before each request. The engine handles its errors as errors of the route.
  public static func http(
    _ name: String, scope: String, url: URL, session: URLSession = .shared,
    preparing prepare:
      @escaping @Sendable (inout URLRequest) async throws -> Void = { _ in }
  ) -> SyncRoute {
    let client = HTTPClient(like: session)
    return SyncRoute(name, scope: scope) { bytes in
      guard ["http", "https"].contains(url.scheme?.lowercased()) else {
        throw HTTPRouteError.notHTTP
      }
      var request = URLRequest(url: url)
      request.httpMethod = "POST"
      request.httpShouldHandleCookies = false
      request.setValue(
        "application/octet-stream", forHTTPHeaderField: "Content-Type")
      request.cachePolicy = .reloadIgnoringLocalCacheData
      try await prepare(&request)
      try Task.checkCancellation()
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
      throw SyncRefusal.busy(seconds: response.secondsToWait)
    default: throw HTTPRouteError.status(response.statusCode)
    }
  }
}

extension HTTPURLResponse {
  /// The time of `Retry-After`, at most a day, or 0 without one.
  fileprivate var secondsToWait: Int {
    let text = value(forHTTPHeaderField: "Retry-After") ?? ""
    let format = DateFormatter()
    format.locale = Locale(identifier: "en_US_POSIX")
    format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss zzz"
    let seconds =
      Double(text.trimmingCharacters(in: .whitespaces))
      ?? format.date(from: text)?.timeIntervalSinceNow
    guard let seconds, seconds > 0 else { return 0 }
    return Int(min(seconds.rounded(.up), 86_400))
  }
}

#if canImport(FoundationNetworking)
  /// A session whose delegate follows no redirect and ends a response that is too
  /// large.
  ///
  /// Foundation on Linux follows redirects of tasks with a completion handler without
  /// asking the delegate, and ignores the time limit of a whole request.
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
      let limit = session.configuration.timeoutIntervalForResource
      let timer = Task { [responses] in
        try await Task.sleep(for: .seconds(limit))
        responses.end(task, with: URLError(.timedOut))
      }
      defer { timer.cancel() }
      return try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation {
          if responses.add($0, of: task) { task.resume() }
        }
      } onCancel: {
        responses.end(task, with: CancellationError())
      }
    }
  }

  private final class Responses: NSObject, URLSessionDataDelegate, Sendable {
    private struct Response {
      var bytes: [UInt8] = []
      var continuation: CheckedContinuation<[UInt8], any Error>?
      /// The error of a request that ended before its task.
      var error: (any Error)?
      /// Whether the task can be canceled.
      ///
      /// Foundation on Linux stops the process if a task is canceled while it starts.
      var isCancelable = false
    }

    private let open = Locked<[Int: Response]>([:])

    /// Adds the waiting caller of a task.
    ///
    /// - Returns: Whether the task should start.
    func add(
      _ continuation: CheckedContinuation<[UInt8], any Error>,
      of task: URLSessionTask
    ) -> Bool {
      let error = open.withLock { open in
        let error = open.removeValue(forKey: task.taskIdentifier)?.error
        if error == nil {
          open[task.taskIdentifier] = Response(continuation: continuation)
        }
        return error
      }
      if let error { continuation.resume(throwing: error) }
      return error == nil
    }

    /// Ends the wait for a task, and the task as soon as it can be canceled.
    func end(_ task: URLSessionTask, with error: any Error) {
      if fail(task, with: error) { task.cancel() }
    }

    /// Ends the wait for a task.
    ///
    /// - Returns: Whether the task can be canceled.
    private func fail(_ task: URLSessionTask, with error: any Error) -> Bool {
      let (continuation, isCancelable) = open.withLock { open in
        let id = task.taskIdentifier
        if open[id] == nil, task.state == .completed {
          return (nil as CheckedContinuation<[UInt8], any Error>?, false)
        }
        var response = open[id] ?? Response()
        let continuation = response.continuation
        (response.continuation, response.bytes) = (nil, [])
        response.error = response.error ?? error
        open[id] = response
        return (continuation, response.isCancelable)
      }
      continuation?.resume(throwing: error)
      return isCancelable
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, didSendBodyData: Int64,
      totalBytesSent: Int64, totalBytesExpectedToSend: Int64
    ) {
      let hasEnded = open.withLock { open in
        open[task.taskIdentifier]?.isCancelable = true
        return open[task.taskIdentifier]?.error != nil
      }
      if hasEnded { task.cancel() }
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
      didReceive response: URLResponse,
      completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
      do {
        try response.check()
        completionHandler(.allow)
      } catch {
        _ = fail(task, with: error)
        completionHandler(.cancel)
      }
    }

    func urlSession(
      _ session: URLSession, dataTask task: URLSessionDataTask,
      didReceive data: Data
    ) {
      let isTooLarge = open.withLock { open in
        guard var response = open.removeValue(forKey: task.taskIdentifier)
        else { return false }
        if response.error == nil { response.bytes += data }
        open[task.taskIdentifier] = response
        return response.bytes.count > SyncMessage.exchangeLimit
      }
      if isTooLarge { end(task, with: HTTPRouteError.tooLarge) }
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask,
      didCompleteWithError error: (any Error)?
    ) {
      let response = open.withLock {
        $0.removeValue(forKey: task.taskIdentifier)
      }
      response?.continuation?.resume(
        with: Result {
          if let error { throw error }
          if task.response == nil { throw HTTPRouteError.notHTTP }
          return response?.bytes ?? []
        })
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
