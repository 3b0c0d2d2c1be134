import StoreProtocol

/// Batches that cannot be read, and that Redis is to quarantine with the reason.
struct UnreadableBatches {
    enum Answer {
        case done
        /// To be asked again later.
        case failed
        /// The token was out of date: the batch still bears our name.
        case askAgain(Park)
        case fenced
    }

    private var requests: [BatchID: Park] = [:]

    var isEmpty: Bool { requests.isEmpty }
    var ids: some Sequence<BatchID> { requests.keys }
    /// The requests without a success.
    var open: some Sequence<Park> { requests.values }

    mutating func add(_ request: Park) { requests[request.batch] = request }

    /// Redis has answered a request, or has not.
    ///
    /// - Parameter token: of the batch's shard; nil: it is neither served nor withdrawn.
    mutating func answered(
        _ request: Park, _ result: Result<Bool, StoreError>, token: FenceToken?
    ) -> Answer {
        switch result {
        case .failure(.fenced):
            if let token, token != request.token {
                var again = request
                again.token = token
                requests[request.batch] = again
                return .askAgain(again)
            }
            requests[request.batch] = nil
            return .fenced
        case .success:
            requests[request.batch] = nil
            return .done
        case .failure: return .failed
        }
    }
}
