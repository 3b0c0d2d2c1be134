import PushModel

/// The campaigns with the same `merge` name. Their pushes for a device are merged into one background push.
///
/// The payload of a merged push:
/// `{"aps":{"content-available":1},"merge":NAME,"fetch":[{"campaign":ID,"items":[…]},…]}`. The `items` of a
/// campaign are the elements of `fetch` in the campaign's own payload. A push with only one campaign has the same form.
package struct MergeGroup: Hashable, Sendable {
    /// The greatest length of a merged payload in bytes: APNs' limit for background pushes.
    package static let payloadLimit = 4096
    /// The greatest length of a name in bytes. The name is the collapse id of merged pushes.
    package static let longestName = 64

    /// One push to devices for which all its campaigns are due.
    package struct Push: Hashable, Sendable {
        package let payload: [UInt8]
        /// The ids of the merged campaigns in the order of the payload.
        package let campaigns: [String]
        /// When the push expires: the latest end of its campaigns.
        package let expiresAt: UTCTime

        /// The campaign whose record counts the push as accepted. The other campaigns count it as merged.
        package var counted: String { campaigns[0] }
    }

    /// The name, which is also the collapse id.
    package let name: String
    private let start: [UInt8]
    private static let end = Array("]}".utf8)

    package init(name: String) throws(ScheduleError) {
        guard (1...Self.longestName).contains(name.utf8.count),
            !name.unicodeScalars.contains(where: UTF8Text.isControl)
        else {
            throw ScheduleError(
                field: .merge, reason: "1 to \(Self.longestName) bytes without control characters are needed")
        }
        self.name = name
        var text = Array(#"{"aps":{"content-available":1},"merge":"#.utf8)
        JSONText.append(name, to: &text)
        start = text + Array(#","fetch":["#.utf8)
    }

    /// Returns the push to devices for which campaigns are due, and the campaigns that have no room in the push.
    ///
    /// The order of the payload is: greatest priority, then earliest start, then id. A campaign's
    /// element is never divided. If an element does not fit, its campaign waits for the next push. The next push takes
    /// the campaigns that wait longest first. So if n campaigns are due, each of them is in one of the next n pushes.
    /// - Parameters:
    ///   - due: the due campaigns with different ids, all of this group.
    ///   - waiting: the ids of campaigns that had no room in earlier pushes, longest wait first: the ids of the last
    ///     `leftOut`. Ids that are not due are ignored.
    /// - Returns: the push, and the due campaigns that wait for the next push. There is no push if nothing is due.
    package func push(
        _ due: [MergeMember], waiting: [String] = []
    ) -> (push: Push?, leftOut: [MergeMember]) {
        let ordered = due.sorted(by: MergeMember.precedes)
        let first = waiting.compactMap { id in ordered.first { $0.campaign == id } }
        let selection = first + ordered.filter { !waiting.contains($0.campaign) }
        var length = start.count + Self.end.count
        var taken: Set<String> = []
        for member in selection where !taken.contains(member.campaign) {
            let added = member.element.count + (taken.isEmpty ? 0 : 1)
            guard length + added <= Self.payloadLimit else { continue }
            length += added
            taken.insert(member.campaign)
        }
        let merged = ordered.filter { taken.contains($0.campaign) }
        guard let latest = merged.map(\.expiresAt).max() else { return (nil, []) }
        let payload = start + merged.map(\.element).joined(separator: [UInt8(ascii: ",")]) + Self.end
        return (
            Push(payload: payload, campaigns: merged.map(\.campaign), expiresAt: latest),
            selection.filter { !taken.contains($0.campaign) }
        )
    }

    /// Whether a job can contain the payload with a campaign's element. A merged payload nests the element more deeply than the
    /// campaign's own payload.
    func isReadable(_ element: [UInt8]) -> Bool {
        let job = Array("[".utf8) + start + element + Self.end + Array("]".utf8)
        return job.withUnsafeBytes { (try? JSONScanner.validate($0)) != nil }
    }

    /// The greatest length in bytes of a campaign's element.
    var room: Int { Self.payloadLimit - start.count - Self.end.count }
}
