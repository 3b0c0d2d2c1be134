import APNs
import BinaryProtocol

/// Judges one notification of the binary interface: what its sizes and its token deserve, were there no faults.
///
/// The first that fails decides, in the order of the statuses, and the gateway's own trouble comes last.
struct BinaryJudge {
    enum Verdict: Hashable {
        case accepted
        /// Accepted, and then the device was found to be without the app since so many milliseconds after 1970.
        case undeliverable(since: Int64)
        case refused(BinaryStatus)
    }

    /// Bytes of the tokens that are taken.
    var tokenLengths = [32]

    /// - Parameter hasTopic: whether the connection's certificate names one, or needs none.
    func judge(
        _ push: BinaryNotification, as command: BinaryCommand, hasTopic: Bool, table: borrowing TokenTable
    ) -> Verdict {
        if push.token.isEmpty { return .refused(.missingDeviceToken) }
        if !hasTopic { return .refused(.missingTopic) }
        if push.payload.isEmpty { return .refused(.missingPayload) }
        if !tokenLengths.contains(push.token.count) { return .refused(.invalidTokenSize) }
        if push.payload.count > command.longestPayload { return .refused(.invalidPayloadSize) }
        guard let rule = table.rule(forBytes: push.token) else {
            return Self.isZero(push.token) ? .refused(.invalidToken) : .accepted
        }
        switch rule {
        case .state(let state): return Self.verdict(on: state)
        case .trouble: return .refused(.processingError)
        case .silent: return .accepted
        }
    }

    private static func verdict(on state: TokenState) -> Verdict {
        switch state {
        case .unknown, .otherTopic, .otherEnvironment: .refused(.invalidToken)
        case .unregistered(let since), .expired(let since): .undeliverable(since: since)
        case .valid, .throttled: .accepted
        }
    }

    /// What a sender reads from an array that was never filled.
    private static func isZero(_ token: UnsafeRawBufferPointer) -> Bool {
        token[0] == 0 && token.allSatisfy { $0 == 0 }
    }
}
