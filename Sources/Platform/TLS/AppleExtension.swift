/// The certificate extensions by which Apple says what an APNs certificate may do.
package enum AppleExtension {
    package static let sandbox = "1.2.840.113635.100.6.3.1"
    package static let production = "1.2.840.113635.100.6.3.2"
    package static let voip = "1.2.840.113635.100.6.3.4"
    package static let topics = "1.2.840.113635.100.6.3.6"

    /// One entry of the topic list: "com.example.voip" of the kinds ["voip"].
    package struct Topic: Hashable, Sendable {
        package let name: String
        package let kinds: [String]

        package init(_ name: String, kinds: [String]) {
            self.name = name
            self.kinds = kinds
        }
    }

    /// `SEQUENCE { UTF8String topic, SEQUENCE { UTF8String kind … }, … }`.
    package static func value(ofTopics topics: [Topic]) -> [UInt8] {
        let entries = topics.flatMap { topic in
            let kinds = topic.kinds.flatMap { DER.element(DER.Tag.utf8String, Array($0.utf8)) }
            return DER.element(DER.Tag.utf8String, Array(topic.name.utf8))
                + DER.element(DER.Tag.sequence, kinds)
        }
        return DER.element(DER.Tag.sequence, entries)
    }

    /// The topics in the value of the extension ``topics``, or nil if it is malformed.
    package static func topics(inValue value: [UInt8]) -> [Topic]? {
        guard let outer = DER.elements(value[...]), outer.count == 1, outer[0].tag == DER.Tag.sequence,
            let entries = DER.elements(outer[0].content)
        else { return nil }
        var topics: [Topic] = []
        for entry in entries {
            switch entry.tag {
            case DER.Tag.utf8String:
                topics.append(Topic(text(entry.content), kinds: []))
            case DER.Tag.sequence:
                guard let last = topics.popLast(), let kinds = DER.elements(entry.content) else { return nil }
                topics.append(Topic(last.name, kinds: kinds.map { text($0.content) }))
            default: return nil
            }
        }
        return topics
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
}
