import APNs
import HTTP2
import POSIX
import PushModel

/// Decides the response to one request from its headers, credentials and token. Injected faults are not considered.
struct PushJudge {
    enum Verdict {
        case reply(Reply)
        /// The push gets no response, because its token is set to be silent.
        case silent
    }

    var table: TokenTable
    var throttle: TokenThrottle?

    /// - Parameters:
    ///   - credentials: checks the credentials of the request, and returns the result. The closure is called at most
    ///     once.
    ///   - now: the present time in milliseconds since 1970.
    mutating func judge(
        _ request: ServerRequest, now: Int64, credentials: () -> PushCheck.CredentialOutcome
    ) -> Verdict {
        var push = ReceivedPush()
        push.method = request.value(.method)
        push.path = request.value(.path)
        push.topic = request.value(.topic)
        push.pushType = request.value(.pushType)
        push.priority = request.value(.priority)
        push.expiration = request.value(.expiration)
        push.collapseID = request.value(.collapseID)
        push.id = request.value(.id)
        push.hasRepeatedHeader = request.hasRepeatedFields
        push.payloadLength = request.bodyCount
        var rule: TokenRule?
        do throws(PushCheck.Refusal) {
            try PushCheck.check(push, credentials: credentials) { token in
                rule = table.rule(for: token)
                if case .state(let state) = rule { return state }
                if rule == nil, throttle?.exceeds(token, now: now) ?? false { return .throttled }
                return .valid
            }
        } catch { return .reply(Reply(error.reason, timestamp: error.timestamp)) }
        switch rule {
        case .trouble(let reason): return .reply(Reply(reason))
        case .silent: return .silent
        case .state, nil: return .reply(.accepted)
        }
    }
}

/// Checks whether payloads are JSON objects. APNs's response to other payloads is not known, so the simulator accepts them with
/// a warning.
struct PayloadInspector {
    private var latest: [UInt8] = []
    private var latestWarning: String?

    /// The warning about a payload; nil if the payload is a JSON object.
    mutating func warning(about payload: UnsafeRawBufferPointer) -> String? {
        let isSame =
            payload.count == latest.count && !latest.isEmpty
            && latest.withUnsafeBytes { memcmp($0.baseAddress!, payload.baseAddress!, payload.count) == 0 }
        if isSame { return latestWarning }
        latest.removeAll(keepingCapacity: true)
        latest.append(contentsOf: payload)
        latestWarning = Self.check(payload)
        return latestWarning
    }

    private static func check(_ payload: UnsafeRawBufferPointer) -> String? {
        do throws(JSONError) {
            var scanner = JSONScanner(payload)
            try scanner.start()
            guard try scanner.kind() == .object else { return "the payload is not a JSON object" }
            try JSONScanner.validate(payload)
            return nil
        } catch {
            return "the payload is not JSON: \(error)"
        }
    }
}
