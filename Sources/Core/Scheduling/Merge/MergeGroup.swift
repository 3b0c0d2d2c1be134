import PushModel

/// The campaigns with the same `merge` name. A push of the group has the content of all its campaigns that are due for a device.
///
/// The payload of a push: `{"aps":{"content-available":1},"merge":NAME,"fetch":[{"campaign":ID,"items":[…]},…]}`. The `items` of a
/// campaign are the elements of `fetch` in the campaign's own payload. A push with only one campaign has the same form.
package struct MergeGroup: Hashable, Sendable {
    /// The greatest length of a merged payload in bytes: APNs' limit for background pushes.
    package static let payloadLimit = 4096
    /// The greatest length of a name in bytes. The name is the collapse id of merged pushes.
    package static let longestName = 64

    /// The name, which is also the collapse id.
    package let name: String
    private let limit: Int
    private let start: [UInt8]
    private static let end = Array("]}".utf8)

    /// - Parameter payloadLimit: the greatest length of a payload in bytes, if the app allows less than APNs.
    package init(name: String, payloadLimit: Int = payloadLimit) throws(ScheduleError) {
        guard (1...Self.longestName).contains(name.utf8.count),
            !name.unicodeScalars.contains(where: UTF8Text.isControl)
        else {
            throw ScheduleError(
                field: .merge, reason: "1 to \(Self.longestName) bytes without control characters are needed")
        }
        self.name = name
        limit = min(payloadLimit, Self.payloadLimit)
        var text = Array(#"{"aps":{"content-available":1},"merge":"#.utf8)
        JSONText.append(name, to: &text)
        start = text + Array(#","fetch":["#.utf8)
    }

    /// Returns the payload with the content of these campaigns. The order of `fetch` is: greatest priority, then earliest start,
    /// then id.
    package func payload(of members: [MergeMember]) -> [UInt8] {
        let elements = members.sorted(by: MergeMember.precedes).map(\.element)
        return start + elements.joined(separator: [UInt8(ascii: ",")]) + Self.end
    }

    /// Returns the campaigns that have room in one push. An element is never divided.
    ///
    /// The campaign that sends the push comes first. The campaigns in lower rounds come next, because a campaign that had no room
    /// for a device stays in its round. So each campaign has room in some later push. In the same round, the order is that of the
    /// payload.
    ///
    /// - Parameters:
    ///   - leader: the campaign that sends the push. It always has room.
    ///   - others: further campaigns of this group, with their rounds.
    /// - Returns: the indexes in `others` of the campaigns with room, in ascending order.
    package func fitting(_ leader: MergeMember, _ others: [(member: MergeMember, round: Int)]) -> [Int] {
        var length = start.count + Self.end.count + leader.element.count
        let order = others.indices.sorted { left, right in
            let (one, other) = (others[left], others[right])
            guard one.round == other.round else { return one.round < other.round }
            return MergeMember.precedes(one.member, other.member)
        }
        return order.filter { index in
            let added = others[index].member.element.count + 1
            guard length + added <= limit else { return false }
            length += added
            return true
        }.sorted()
    }

    /// Whether a job can contain the payload with a campaign's element. A merged payload nests the element more deeply than the
    /// campaign's own payload.
    func isReadable(_ element: [UInt8]) -> Bool {
        let job = Array("[".utf8) + start + element + Self.end + Array("]".utf8)
        return job.withUnsafeBytes { (try? JSONScanner.validate($0)) != nil }
    }

    /// The greatest length in bytes of a campaign's element.
    var room: Int { limit - start.count - Self.end.count }
}
