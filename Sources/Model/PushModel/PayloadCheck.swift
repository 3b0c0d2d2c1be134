/// What a payload must keep to, given its push type.
struct PayloadCheck {
    let bytes: UnsafeRawBufferPointer
    let pushType: PushType
    /// In bytes.
    let limit: Int

    init(_ bytes: UnsafeRawBufferPointer, pushType: PushType, limits: JobLimits) {
        self.bytes = bytes
        self.pushType = pushType
        limit = min(pushType.payloadLimit, limits.payloadBytes)
    }

    /// What is wrong with the payload, which is a valid JSON object, and where.
    func fault(of payload: Range<Int>) -> (fault: MalformedPush.Fault, position: Int)? {
        guard payload.count <= limit else {
            return (.payloadTooLarge(bytes: payload.count, limit: limit), payload.lowerBound)
        }
        guard pushType == .background else { return nil }
        do throws(JSONError) {
            return try backgroundFault(of: payload).map { (.backgroundWith($0.key), $0.position) }
        } catch {
            return nil  // Not reached: the payload was scanned before.
        }
    }

    /// The first member of any `aps` that makes the device show or play something.
    private func backgroundFault(
        of payload: Range<Int>
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
