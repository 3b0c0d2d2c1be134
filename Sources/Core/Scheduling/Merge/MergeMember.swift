import PushModel

/// A campaign of a merge group, with what its devices fetch.
package struct MergeMember: Hashable, Sendable {
    /// The values of ``priority``.
    package static let priorities = 0...1000

    package let campaign: String
    /// A greater number is more urgent.
    package let priority: Int
    package let startedAt: UTCTime
    /// The campaign's element in the `fetch` list of a merged payload.
    let element: [UInt8]

    /// - Parameters:
    ///   - campaign: the campaign's id.
    ///   - payload: the campaign's own payload, which is valid JSON. It has only `aps` with `content-available`, and
    ///     `fetch` with at least one element.
    ///   - group: the group that the campaign names.
    package init(
        campaign: String, priority: Int, startedAt: UTCTime, payload: [UInt8], group: MergeGroup
    ) throws(ScheduleError) {
        guard Self.priorities.contains(priority) else {
            throw ScheduleError(field: .merge, reason: "a priority from 0 to 1000 is needed")
        }
        let fetch: MergePayload
        do { fetch = try payload.withUnsafeBytes(MergePayload.read).get() } catch {
            throw ScheduleError(field: .merge, reason: error.reason)
        }
        var text = JSONText()
        text.object { text in
            text.member("campaign", campaign)
            text.member("items", json: payload[fetch.items])
        }
        guard text.bytes.count <= group.room else {
            throw ScheduleError(
                field: .merge,
                reason:
                    "the payload has \(text.bytes.count) bytes for the fetch list of a merged push; there is room for \(group.room)"
            )
        }
        guard !text.bytes.contains("{{".utf8) else {
            throw ScheduleError(
                field: .merge, reason: "the payload of a merged campaign has no placeholders")
        }
        guard group.isReadable(text.bytes) else {
            throw ScheduleError(field: .merge, reason: "the elements of fetch are nested too deeply")
        }
        (self.campaign, self.priority) = (campaign, priority)
        (self.startedAt, element) = (startedAt, text.bytes)
    }

    /// Whether a campaign's content comes before another's: greatest priority, then earliest start, then id.
    package static func precedes(_ left: MergeMember, _ right: MergeMember) -> Bool {
        (-left.priority, left.startedAt.milliseconds, left.campaign)
            < (-right.priority, right.startedAt.milliseconds, right.campaign)
    }
}

/// Finds the `fetch` list of a campaign's payload, and refuses members that a merged payload cannot contain.
private struct MergePayload {
    struct Fault: Error {
        let reason: String
    }

    /// The range of the list in the payload.
    let items: Range<Int>

    static func read(_ bytes: UnsafeRawBufferPointer) -> Result<MergePayload, Fault> {
        do { return .success(MergePayload(items: try items(bytes))) } catch let fault as Fault {
            return .failure(fault)
        } catch {
            return .failure(Fault(reason: "the payload \((error as? JSONError)?.description ?? "is wrong")"))
        }
    }

    private static func items(_ bytes: UnsafeRawBufferPointer) throws -> Range<Int> {
        var scanner = JSONScanner(bytes)
        var (items, hasAPS): (Range<Int>?, Bool) = (nil, false)
        try scanner.start()
        try scanner.enterObject()
        while let key = try scanner.nextKey() {
            switch scanner.text(key) {
            case "aps" where !hasAPS:
                try checkAPS(&scanner)
                hasAPS = true
            case "fetch" where items == nil: items = try list(&scanner)
            case let name:
                throw Fault(
                    reason: "the payload of a merged campaign has aps and fetch once, and no \"\(name)\"")
            }
        }
        try scanner.end()
        guard hasAPS, let items else {
            throw Fault(reason: "the payload of a merged campaign needs aps and fetch")
        }
        return items
    }

    private static func checkAPS(_ scanner: inout JSONScanner) throws {
        let fault = Fault(reason: "aps of a merged campaign is {\"content-available\":1}")
        guard try scanner.kind() == .object else { throw fault }
        try scanner.enterObject()
        var count = 0
        while let key = try scanner.nextKey() {
            guard scanner.matches(key, "content-available"), try scanner.kind() == .number,
                try scanner.integer() == 1
            else { throw fault }
            count += 1
        }
        guard count == 1 else { throw fault }
    }

    private static func list(_ scanner: inout JSONScanner) throws -> Range<Int> {
        let fault = Fault(reason: "fetch is a list with at least one element")
        guard try scanner.kind() == .array else { throw fault }
        let start = scanner.position
        try scanner.enterArray()
        var count = 0
        while try scanner.nextElement() {
            _ = try scanner.skipValue()
            count += 1
        }
        guard count > 0 else { throw fault }
        return start..<scanner.position
    }
}
