import Foundation
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Sends requests to the service and waits for the answers.
struct ServiceClient: Sendable {
    let url: URL

    /// Returns the body of a successful answer.
    ///
    /// - Throws: ``ServiceRefusal`` for any other status; the `URLError` if the service does not answer.
    func ask(_ method: String, _ path: String, _ query: [(String, String)] = [], body: Data? = nil) throws -> Data {
        var components = URLComponents(url: url.appendingPathComponent(path), resolvingAgainstBaseURL: false)
        if !query.isEmpty { components?.queryItems = query.map { URLQueryItem(name: $0.0, value: $0.1) } }
        guard let address = components?.url else { throw URLError(.badURL) }
        var request = URLRequest(url: address)
        request.httpMethod = method
        request.httpBody = body
        let answer = Mutex<Result<(Int, Data), any Error>>(.failure(URLError(.unknown)))
        let isThere = DispatchSemaphore(value: 0)
        let task = URLSession.shared.dataTask(with: request) { data, response, error in
            answer.withLock { answer in
                if let error { answer = .failure(error) }
                if let status = (response as? HTTPURLResponse)?.statusCode {
                    answer = .success((status, data ?? Data()))
                }
            }
            isThere.signal()
        }
        task.resume()
        isThere.wait()
        let (status, data) = try answer.withLock { try $0.get() }
        guard status == 200 else { throw ServiceRefusal(status: status, body: data) }
        return data
    }

    func ask<Answer: Decodable>(
        _ type: Answer.Type, _ path: String, _ query: [(String, String)] = []
    ) throws -> Answer {
        try JSONDecoder().decode(type, from: try ask("GET", path, query))
    }
}

/// The service refused the request.
struct ServiceRefusal: Error {
    let status: Int
    let body: Data
}
