/// Checks a payload against the rules of its push type.
struct PayloadCheck {
    let bytes: UnsafeRawBufferPointer
    let pushType: PushType
    /// The maximum payload size in bytes.
    let limit: Int

    init(_ bytes: UnsafeRawBufferPointer, pushType: PushType, limits: JobLimits) {
        self.bytes = bytes
        self.pushType = pushType
        limit = min(pushType.payloadLimit, limits.payloadBytes)
    }

    /// The first fault in the payload, with its position; nil if there is no fault. The payload must be a valid JSON object.
    func fault(of payload: Range<Int>) -> (fault: MalformedPush.Fault, position: Int)? {
        guard payload.count <= limit else {
            return (.payloadTooLarge(bytes: payload.count, limit: limit), payload.lowerBound)
        }
        return backgroundFault(of: payload).map { (.backgroundWith($0.key), $0.position) }
    }

    /// A text for developers that explains why a payload of `bytes` bytes is refused.
    func reason(tooLarge bytes: Int) -> String {
        "the payload has \(bytes) bytes; push_type \"\(pushType.name)\" allows at most \(limit)"
    }

    /// The first key in the payload's `aps` object that a background push must not contain, with the key's position.
    ///
    /// Returns nil if there is no such key, or the push is not a background push. The payload must be a valid JSON object.
    func backgroundFault(of payload: Range<Int>) -> (key: BackgroundKey, position: Int)? {
        guard pushType == .background else { return nil }
        // The call throws only for invalid JSON, and an earlier scan has found the payload valid.
        return (try? wrongKey(in: payload)) ?? nil
    }

    /// The first key in the `aps` object that a background push must not contain, such as `alert`; nil if there is no such key.
    private func wrongKey(
        in payload: Range<Int>
    ) throws(JSONError) -> (key: BackgroundKey, position: Int)? {
        var scanner = JSONScanner(bytes, position: payload.lowerBound, depth: 1)
        try scanner.enterObject()
        while let name = try scanner.nextKey() {
            guard scanner.matches(name, "aps"), try scanner.kind() == .object else {
                _ = try scanner.skipValue()
                continue
            }
            try scanner.enterObject()
            while let member = try scanner.nextKey() {
                if let key = BackgroundKey(rawValue: scanner.text(member)) {
                    return (key, member.content.lowerBound - 1)
                }
                _ = try scanner.skipValue()
            }
        }
        return nil
    }
}

/// A warning about an allowed payload that is probably a mistake.
package enum PayloadWarning: String, CaseIterable, Hashable, Sendable {
    case noAPS = "the payload has no \"aps\"; without \"aps\" a device shows nothing"
    case silentAlert =
        "\"content-available\" alone shows nothing with push_type \"alert\"; use push_type \"background\""
    case idleBackground = "a background push without \"content-available\" in its \"aps\" wakes no app"

    /// If each push of a job has its own payload, the farm checks only the first payloads for warnings, at most this number.
    package static let mostChecked = 8

    /// The first warning about a payload; nil if there is none. The payload must be a valid JSON object.
    static func find(
        in payload: Range<Int>, of bytes: UnsafeRawBufferPointer, pushType: PushType
    ) -> PayloadWarning? {
        guard hasRules(pushType) else { return nil }
        // The call throws only for invalid JSON, and an earlier scan has found the payload valid.
        return try? find(JSONScanner(bytes, position: payload.lowerBound, depth: 1), pushType)
    }

    /// Whether payloads of the push type are checked for `aps`. PushKit and MDM payloads, for example, need no `aps`.
    private static func hasRules(_ pushType: PushType) -> Bool {
        switch pushType {
        case .alert, .background, .liveactivity, .widgets, .controls: true
        case .voip, .complication, .fileprovider, .mdm, .location, .pushtotalk: false
        }
    }

    private static func find(_ start: JSONScanner, _ pushType: PushType) throws(JSONError) -> PayloadWarning?
    {
        var scanner = start
        try scanner.enterObject()
        var isEmpty = true
        while let name = try scanner.nextKey() {
            isEmpty = false
            if scanner.matches(name, "aps") {
                return try scanner.kind() == .object ? check(&scanner, pushType) : .noAPS
            }
            _ = try scanner.skipValue()
        }
        // An empty payload gets no warning, because it is the correct payload for passes of Apple Wallet.
        return isEmpty ? nil : .noAPS
    }

    /// Checks the `aps` object at the scanner's position.
    private static func check(
        _ scanner: inout JSONScanner, _ pushType: PushType
    ) throws(JSONError) -> PayloadWarning? {
        guard pushType == .alert || pushType == .background else { return nil }
        var (wakes, shows) = (false, false)
        try scanner.enterObject()
        while let name = try scanner.nextKey() {
            if scanner.matches(name, "content-available") { wakes = true }
            if scanner.matches(name, "alert") || scanner.matches(name, "badge")
                || scanner.matches(name, "sound")
            {
                shows = true
            }
            _ = try scanner.skipValue()
        }
        if pushType == .background { return wakes ? nil : .idleBackground }
        return wakes && !shows ? .silentAlert : nil
    }
}
