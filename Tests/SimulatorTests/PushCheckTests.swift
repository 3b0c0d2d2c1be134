import APNs
import PushModel
import Testing

@testable import Simulator

struct PushCheckTests {
    /// A request as text. Each test row changes one field.
    struct Request {
        var method: String? = "POST"
        var path: String? = "/3/device/00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0"
        var topic: String? = "com.example"
        var type: String? = "alert"
        var priority: String? = "10"
        var expiration: String? = "1700000000"
        var collapseID: String? = "order"
        var id: String? = "123e4567-e89b-82d3-a456-426614174000"
        var hasRepeatedHeader = false
        var payloadLength = 100
        var credentials = PushCheck.CredentialOutcome.accepted(TopicRules(tokenBundles: nil))
        var state = TokenState.valid

        func with(_ change: (inout Request) -> Void) -> Request {
            var request = self
            change(&request)
            return request
        }

        /// The reason and timestamp of the refusal; nil if the request is accepted.
        func refusal() -> (Reason, Int64?)? {
            let texts = [method, path, topic, type, priority, expiration, collapseID, id].map {
                $0.map { Array($0.utf8) }
            }
            var push = ReceivedPush()
            push.hasRepeatedHeader = hasRepeatedHeader
            push.payloadLength = payloadLength
            func bind(_ index: Int) -> (Reason, Int64?)? {
                guard index < texts.count else {
                    do throws(PushCheck.Refusal) {
                        try PushCheck.check(push, credentials: { credentials }, tokenState: { _ in state })
                        return nil
                    } catch { return (error.reason, error.timestamp) }
                }
                guard let text = texts[index] else { return bind(index + 1) }
                return text.withUnsafeBytes { bytes in
                    switch index {
                    case 0: push.method = bytes
                    case 1: push.path = bytes
                    case 2: push.topic = bytes
                    case 3: push.pushType = bytes
                    case 4: push.priority = bytes
                    case 5: push.expiration = bytes
                    case 6: push.collapseID = bytes
                    default: push.id = bytes
                    }
                    return bind(index + 1)
                }
            }
            return bind(0)
        }
    }

    private static func with(_ change: (inout Request) -> Void) -> Request { Request().with(change) }

    /// Faults of a request, in the order in which the gateway checks them: a change of the request, and the reason of the
    /// refusal.
    static let faults: [(request: @Sendable (inout Request) -> Void, reason: Reason)] = [
        ({ $0.method = "GET" }, .methodNotAllowed), ({ $0.path = "/4/device/00" }, .badPath),
        ({ $0.credentials = .refused(.expiredProviderToken) }, .expiredProviderToken),
        ({ $0.hasRepeatedHeader = true }, .duplicateHeaders), ({ $0.id = "x" }, .badMessageID),
        ({ $0.expiration = "soon" }, .badExpirationDate), ({ $0.priority = "7" }, .badPriority),
        ({ $0.type = "Alert" }, .invalidPushType),
        ({ $0.collapseID = String(repeating: "c", count: 65) }, .badCollapseID),
        ({ $0.topic = nil }, .missingTopic), ({ $0.state = .unknown }, .badDeviceToken),
        ({ $0.payloadLength = 0 }, .payloadEmpty),
    ]

    @Test func `the first fault in the order of checks decides the reason`() {
        for first in Self.faults.indices {
            var request = Request()
            for fault in Self.faults[first...].reversed() { fault.request(&request) }
            #expect(request.refusal()?.0 == Self.faults[first].reason)
        }
    }

    @Test func `a complete request is accepted`() {
        #expect(Request().refusal() == nil)
    }

    @Test func `a request with only the required fields is accepted`() {
        let request = Self.with {
            $0.type = nil
            $0.priority = nil
            $0.expiration = nil
            $0.collapseID = nil
            $0.id = nil
        }
        #expect(request.refusal() == nil)
    }

    @Test(arguments: [
        (nil as String?, .methodNotAllowed as Reason?), ("", .methodNotAllowed), ("post", .methodNotAllowed),
        ("POSTS", .methodNotAllowed), ("POST", nil),
    ]) func `the method must be POST`(method: String?, reason: Reason?) {
        #expect(Self.with { $0.method = method }.refusal()?.0 == reason)
    }

    @Test(arguments: [
        (nil as String?, .badPath as Reason?), ("", .badPath), ("/", .badPath), ("/3/devic", .badPath),
        ("/3/device", .missingDeviceToken), ("/3/device/", .missingDeviceToken), ("/3/devices/00", .badPath),
        ("/3/device/00/", .badPath), ("/3/device/00/11", .badPath), ("/3/device//", .badPath),
        ("/3/device/0", .badDeviceToken), ("/3/device/0g", .badDeviceToken),
        ("/3/device/00?x", .badDeviceToken),
        ("/3/device/" + String(repeating: "0", count: 200), nil),
        ("/3/device/" + String(repeating: "0", count: 202), .badDeviceToken),
        ("/3/device/ABABABABABABABAB", nil), ("/3/device/AB", .badDeviceToken),
    ]) func `the path must name a valid token`(path: String?, reason: Reason?) {
        #expect(Self.with { $0.path = path }.refusal()?.0 == reason)
    }

    @Test(arguments: [
        ("123e4567-e89b-82d3-a456-42661417400", .badMessageID as Reason?),
        ("123E4567-E89B-82D3-A456-426614174000", nil),
        ("123e4567ae89b-82d3-a456-426614174000", .badMessageID),
        ("123e4567-e89b-82d3-a456-42661417400g", .badMessageID),
        ("", .badMessageID), ("-23e4567-e89b-82d3-a456-426614174000", .badMessageID),
    ]) func `a message id must be a UUID`(id: String, reason: Reason?) {
        #expect(Self.with { $0.id = id }.refusal()?.0 == reason)
    }

    @Test(arguments: [
        ("0", nil as Reason?), ("9223372036854775807", nil), ("-1", .badExpirationDate),
        ("", .badExpirationDate),
        ("1.5", .badExpirationDate), ("9223372036854775808", .badExpirationDate),
    ]) func `the expiration must be a number`(expiration: String, reason: Reason?) {
        #expect(Self.with { $0.expiration = expiration }.refusal()?.0 == reason)
    }

    @Test(arguments: [
        ("alert", "10" as String?, nil as Reason?), ("alert", "5", nil), ("alert", "1", nil),
        ("alert", "0", .badPriority),
        ("alert", "", .badPriority), ("alert", "ten", .badPriority), ("background", "10", .badPriority),
        ("background", "5", nil), ("background", "1", nil), ("background", nil, nil),
    ]) func `the priority must fit the push type`(type: String, priority: String?, reason: Reason?) {
        let request = Self.with {
            $0.type = type
            $0.priority = priority
        }
        #expect(request.refusal()?.0 == reason)
    }

    @Test(arguments: PushType.allCases) func `every push type has its topic suffix and size limit`(
        type: PushType
    ) {
        let request = Self.with {
            $0.type = type.name
            $0.priority = "5"
            $0.topic = "com.example" + type.topicSuffix
            $0.payloadLength = type == .voip ? 5120 : 4096
        }
        #expect(request.refusal() == nil)
        #expect(request.with { $0.payloadLength += 1 }.refusal()?.0 == .payloadTooLarge)
        let hasSuffix = !type.topicSuffix.isEmpty
        #expect(request.with { $0.topic = "com.example" }.refusal()?.0 == (hasSuffix ? .badTopic : nil))
        #expect(request.with { $0.topic = type.topicSuffix }.refusal()?.0 == .badTopic)
    }

    @Test(arguments: ["", "Alert", "alert ", "silent", "liveactivities"]) func `wrong types are refused`(
        type: String
    ) {
        #expect(Self.with { $0.type = type }.refusal()?.0 == .invalidPushType)
    }

    @Test(arguments: [
        (TokenState.valid, nil as Reason?, nil as Int64?), (.unknown, .badDeviceToken, nil),
        (.otherEnvironment, .badDeviceToken, nil), (.otherTopic, .deviceTokenNotForTopic, nil),
        (.unregistered(since: 5), .unregistered, 5), (.expired(since: 6), .expiredToken, 6),
        (.throttled, .tooManyRequests, nil),
    ]) func `a token's state decides the reason`(state: TokenState, reason: Reason?, timestamp: Int64?) {
        let refusal = Self.with { $0.state = state }.refusal()
        #expect(refusal?.0 == reason)
        #expect(refusal?.1 == timestamp)
    }

    @Test func `a collapse id has at most 64 bytes`() {
        #expect(Self.with { $0.collapseID = String(repeating: "é", count: 32) }.refusal() == nil)
        #expect(
            Self.with { $0.collapseID = String(repeating: "é", count: 33) }.refusal()?.0 == .badCollapseID)
    }

    @Test(
        arguments: [
            ("com.a", "alert", nil as Reason?), ("com.a.voip", "voip", nil), ("com.a.voip", "alert", nil),
            ("com.b", "alert", nil),
            ("com.c", "alert", .topicDisallowed), ("com.a.c", "alert", .topicDisallowed),
            ("com.", "alert", .topicDisallowed),
            ("com.a ", "alert", .badTopic), ("", "alert", .badTopic), (nil, "alert", .missingTopic),
        ] as [(String?, String, Reason?)]) func `a key admits its bundle ids with their suffixes`(
            topic: String?, type: String, reason: Reason?
        )
    {
        let request = Self.with {
            $0.credentials = .accepted(TopicRules(tokenBundles: ["com.a", "com.b"]))
            $0.topic = topic
            $0.type = type
        }
        #expect(request.refusal()?.0 == reason)
    }

    @Test func `a certificate admits the topics that it lists`() throws {
        let extended: [UInt8] =
            [0x30, 0x11, 0x0C, 0x03] + Array("c.a".utf8) + [0x0C, 0x0A] + Array("c.a.a.voip".utf8)
        let several = try #require(
            extended.withUnsafeBytes { CertificateTopics(subjectUID: "c.a", topicsExtension: $0) })
        let one = try #require(CertificateTopics(subjectUID: "c.a", topicsExtension: nil))
        func refusal(_ topics: CertificateTopics, _ topic: String?, _ type: String = "alert") -> Reason? {
            Self.with {
                $0.credentials = .accepted(TopicRules(certificate: topics))
                $0.topic = topic
                $0.type = type
            }.refusal()?.0
        }
        #expect(refusal(several, "c.a") == nil)
        #expect(refusal(several, "c.a.a.voip", "voip") == nil)
        #expect(refusal(several, "c.a.voip", "voip") == .topicDisallowed)
        #expect(refusal(several, nil) == .missingTopic)
        #expect(refusal(one, nil) == nil)
        #expect(refusal(one, "c.b") == .topicDisallowed)
        #expect(refusal(one, "c.a.location-query", "location") == .topicDisallowed)
        // Pushes to a location topic need a provider token, so the gateway refuses a certificate even if it lists the topic.
        let location = try #require(CertificateTopics(subjectUID: "c.a.location-query", topicsExtension: nil))
        #expect(refusal(location, "c.a.location-query", "location") == .topicDisallowed)
        #expect(refusal(location, nil, "location") == .topicDisallowed)
    }
}
