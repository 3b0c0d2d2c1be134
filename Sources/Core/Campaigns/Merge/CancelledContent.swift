package import PushModel

/// The content of other campaigns in cancelled pushes of a campaign. Jobs send this content to the devices of the pushes.
package struct CancelledContent: Sendable {
    private let cancelled: CancelledPushes
    /// The entry's hash, so that each entry has jobs with other ids.
    private let hash: String
    /// The payloads of the pushes, in the order of their first use.
    private var payloads: [(payload: MergedPayload, tokens: [[UInt8]])] = []

    /// - Throws: ``CodecError`` for an entry that cannot be read.
    package init(decoding entry: [UInt8]) throws(CodecError) {
        cancelled = try CancelledPushes(decoding: entry)
        hash = String(XXH64.hash(entry, seed: 0), radix: 36)
        var places: [[UInt8]: Int?] = [:]
        for (token, payload) in cancelled.pushes {
            let place =
                places[payload]
                ?? MergedPayload(payload).map { merged in
                    payloads.append((merged, []))
                    return payloads.count - 1
                }
            places[payload] = .some(place)
            if let place { payloads[place].tokens.append(token) }
        }
    }

    /// The campaign whose pushes were cancelled.
    package var campaign: String { cancelled.campaign }

    /// The campaigns whose content the pushes have, without ``campaign``.
    package var others: Set<String> { Set(payloads.flatMap(\.payload.campaigns)).subtracting([campaign]) }

    /// The jobs that send the content of other campaigns: one job for each payload. The same entry always has the same jobs, with
    /// the same ids.
    ///
    /// - Parameters:
    ///   - ended: other campaigns whose content is not sent, because they are cancelled, too.
    ///   - lane: the name of the lane of the pushes.
    package func jobs(without ended: Set<String>, lane: String) -> [[UInt8]] {
        payloads.enumerated().compactMap { number, pushes in
            guard let payload = pushes.payload.without(ended.union([campaign])) else { return nil }
            var text = JSONText()
            text.object { text in
                text.member("id", id(ofJob: number))
                for (name, value) in cancelled.options.jobFields() {
                    switch value {
                    case .text(let value): text.member(name, value)
                    case .number(let value): text.member(name, value)
                    }
                }
                text.member("lane", lane)
                text.key("tokens")
                text.array { text in
                    for token in pushes.tokens { text.value(Hexadecimal.text(of: token)) }
                }
                text.member("payload", json: payload[...])
            }
            return text.bytes
        }
    }

    private func id(ofJob number: Int) -> String {
        let (end, id) = ("merged-\(hash)-\(number)", "\(campaign).merged-\(hash)-\(number)")
        return CampaignIdentity.isID(id) ? id : end
    }
}
