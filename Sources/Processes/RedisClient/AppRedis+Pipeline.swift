package import StoreProtocol

extension AppRedis {
    /// Sends requests without waiting between them, and waits for all replies. The caller limits the number of requests and their
    /// size.
    ///
    /// - Returns: the replies in the order of the requests.
    /// - Throws: the error of the first request that fails. The other requests may have been carried out.
    package func performAll<Step: Request>(_ requests: [Step]) async throws(StoreError) -> [Step.Reply] {
        guard !requests.isEmpty else { return [] }
        let results = await withCheckedContinuation { continuation in
            var results = [Result<Step.Reply, StoreError>?](repeating: nil, count: requests.count)
            var open = requests.count
            for (index, request) in requests.enumerated() {
                send(request) { result in
                    results[index] = result
                    open -= 1
                    if open == 0 { continuation.resume(returning: results.compactMap(\.self)) }
                }
            }
        }
        return try results.map { result throws(StoreError) in try result.get() }
    }
}
