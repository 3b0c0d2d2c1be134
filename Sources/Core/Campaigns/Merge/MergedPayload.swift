/// A payload with the content of several campaigns of a merge group.
struct MergedPayload {
    private let bytes: [UInt8]
    /// The range between the brackets of `fetch`.
    private let list: Range<Int>
    private let elements: [(campaign: String, range: Range<Int>)]

    /// Returns nil for a payload that is not merged.
    init?(_ bytes: [UInt8]) {
        guard case .object(let members) = (try? JSONTree(bytes))?.content,
            let fetch = members.first(where: { $0.name == "fetch" })?.value,
            case .array(let found) = fetch.content
        else { return nil }
        var elements: [(String, Range<Int>)] = []
        for element in found {
            guard case .object(let members) = element.content,
                case .string(let campaign) = members.first(where: { $0.name == "campaign" })?.value.content
            else { return nil }
            elements.append((campaign, element.range))
        }
        (self.bytes, self.elements) = (bytes, elements)
        list = fetch.range.lowerBound + 1..<fetch.range.upperBound - 1
    }

    /// The campaigns whose content the payload has.
    var campaigns: [String] { elements.map(\.campaign) }

    /// The payload without the content of some campaigns; nil if no content is left.
    func without(_ campaigns: Set<String>) -> [UInt8]? {
        let rest = elements.filter { !campaigns.contains($0.campaign) }.map { bytes[$0.range] }
        guard !rest.isEmpty else { return nil }
        return bytes[..<list.lowerBound] + Array(rest.joined(separator: [UInt8(ascii: ",")]))
            + bytes[list.upperBound...]
    }
}
