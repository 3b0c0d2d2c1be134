import APNs
import PushModel

/// Decides a gateway's response to a push. The checks of APNs run in a fixed order, and the first failed check decides.
///
/// The order: method, path, credentials, repeated headers, `apns-id`, `apns-expiration`, `apns-priority`,
/// `apns-push-type` and the priority that the type allows, `apns-collapse-id`, `apns-topic`, the token,
/// empty payload, payload too large. A push without `apns-push-type` is an alert.
/// The check of an accepted push allocates no memory.
///
/// This project has chosen the order, because it is not known which reason APNs gives for a push with several faults.
enum PushCheck {
    /// The result of checking a connection's credentials.
    enum CredentialOutcome: Hashable, Sendable {
        case accepted(TopicRules)
        case refused(Reason)
    }

    struct Refusal: Error, Hashable {
        let reason: Reason
        /// When the token became unregistered or expired, in milliseconds since 1970; nil if the push is refused for
        /// another reason.
        var timestamp: Int64?

        init(_ reason: Reason, timestamp: Int64? = nil) {
            self.reason = reason
            self.timestamp = timestamp
        }
    }

    /// - Parameters:
    ///   - credentials: called at most once, and only if method and path are right.
    ///   - tokenState: called at most once, and only if all headers are right and the token is well-formed hexadecimal of a
    ///     length within `JobLimits.tokenBytes`.
    static func check(
        _ push: ReceivedPush, credentials: () -> CredentialOutcome,
        tokenState: (UnsafeRawBufferPointer) -> TokenState
    ) throws(Refusal) {
        guard let method = push.method, method.equals("POST") else {
            throw Refusal(.methodNotAllowed)
        }
        let (token, isToken) = try token(inPath: push.path)
        let topics = try topics(of: credentials())
        if push.hasRepeatedHeader { throw Refusal(.duplicateHeaders) }
        if let id = push.id, !isUUID(id) { throw Refusal(.badMessageID) }
        if let text = push.expiration { try checkExpiration(text) }
        let priority = try push.priority.map { (text) throws(Refusal) in try self.priority(text) }
        let type = try push.pushType.map { (text) throws(Refusal) in try self.type(text) } ?? .alert
        if type == .background, priority == 10 { throw Refusal(.badPriority) }
        if let collapseID = push.collapseID, collapseID.count > 64 { throw Refusal(.badCollapseID) }
        if let reason = topics.refusal(of: push.topic, type: type) { throw Refusal(reason) }
        if let refusal = (isToken ? tokenState(token) : .unknown).refusal {
            throw Refusal(refusal.reason, timestamp: refusal.timestamp)
        }
        if push.payloadLength == 0 { throw Refusal(.payloadEmpty) }
        if push.payloadLength > type.payloadLimit { throw Refusal(.payloadTooLarge) }
    }

    private static func topics(of credentials: CredentialOutcome) throws(Refusal) -> TopicRules {
        switch credentials {
        case .accepted(let rules): return rules
        case .refused(let reason): throw Refusal(reason)
        }
    }

    private static func token(
        inPath path: UnsafeRawBufferPointer?
    ) throws(Refusal) -> (token: UnsafeRawBufferPointer, isWellFormed: Bool) {
        let prefix = "/3/device/"
        guard let path, path.hasPrefix(prefix) else {
            let hasNoToken = path?.equals("/3/device") ?? false
            throw Refusal(hasNoToken ? .missingDeviceToken : .badPath)
        }
        let token = path.after(prefix.utf8.count)
        if token.isEmpty { throw Refusal(.missingDeviceToken) }
        if Hexadecimal.isValid(token) { return (token, JobLimits.tokenBytes.contains(token.count / 2)) }
        if token.contains(UInt8(ascii: "/")) { throw Refusal(.badPath) }
        return (token, false)
    }

    private static func isUUID(_ text: UnsafeRawBufferPointer) -> Bool {
        guard text.count == 36 else { return false }
        for (offset, character) in text.enumerated() {
            let isDash = offset == 8 || offset == 13 || offset == 18 || offset == 23
            guard isDash ? character == UInt8(ascii: "-") : Hexadecimal.value(of: character) != nil else {
                return false
            }
        }
        return true
    }

    private static func checkExpiration(_ text: UnsafeRawBufferPointer) throws(Refusal) {
        guard let seconds = Decimal.read(text), seconds >= 0 else { throw Refusal(.badExpirationDate) }
    }

    private static func priority(_ text: UnsafeRawBufferPointer) throws(Refusal) -> UInt8 {
        switch Decimal.read(text) {
        case 10: return 10
        case 5: return 5
        case 1: return 1
        default: throw Refusal(.badPriority)
        }
    }

    private static func type(_ text: UnsafeRawBufferPointer) throws(Refusal) -> PushType {
        for raw in 0...UInt8.max {
            guard let type = PushType(rawValue: raw) else { break }
            if text.equals(type.name) { return type }
        }
        throw Refusal(.invalidPushType)
    }
}

/// A push as a gateway receives it: the header values as they arrived, nil if absent.
///
/// The header values point into the received bytes, so they are valid only as long as these bytes.
struct ReceivedPush {
    var method: UnsafeRawBufferPointer?
    var path: UnsafeRawBufferPointer?
    var topic: UnsafeRawBufferPointer?
    var pushType: UnsafeRawBufferPointer?
    var priority: UnsafeRawBufferPointer?
    var expiration: UnsafeRawBufferPointer?
    var collapseID: UnsafeRawBufferPointer?
    var id: UnsafeRawBufferPointer?
    var hasRepeatedHeader = false
    var payloadLength = 0

    init() {}
}
