/// The object identifiers of the certificate extensions that list the rights of an APNs certificate.
package enum AppleExtension {
    package static let sandbox = "1.2.840.113635.100.6.3.1"
    package static let production = "1.2.840.113635.100.6.3.2"
    package static let voip = "1.2.840.113635.100.6.3.4"
    package static let topics = "1.2.840.113635.100.6.3.6"
}

/// The topics that a client certificate may push to.
/// - Source: certificates that Apple issues: the subject attribute UID, and ``AppleExtension/topics``.
package struct CertificateTopics: Hashable, Sendable {
    /// The topics of the extension in their order, and then the subject's topic if the extension does not contain it.
    package let allowed: [String]
    /// The UID of the certificate's subject, which is a topic; nil if the subject has no UID.
    package let subjectTopic: String?

    /// - Parameters:
    ///   - subjectUID: the subject's attribute 0.9.2342.19200300.100.1.1.
    ///   - topicsExtension: the value of ``AppleExtension/topics``, if the certificate has one: `SEQUENCE { UTF8String
    ///     topic, SEQUENCE { UTF8String kind }, … }`. The initializer returns nil if this value is malformed.
    package init?(subjectUID: String?, topicsExtension: UnsafeRawBufferPointer?) {
        var allowed: [String] = []
        if let topicsExtension {
            var outer = DERReader(topicsExtension)
            guard let list = outer.next(DER.Tag.sequence), outer.isAtEnd else { return nil }
            var reader = DERReader(list)
            while let (tag, content) = reader.next() {
                guard tag == DER.Tag.utf8String else { continue }
                guard let topic = String(validating: content, as: UTF8.self) else { return nil }
                allowed.append(topic)
            }
            guard !reader.isBroken else { return nil }
        }
        if let subjectUID, !allowed.contains(subjectUID) { allowed.append(subjectUID) }
        self.allowed = allowed
        subjectTopic = subjectUID
    }

    /// The topic of a push that does not name a topic; nil if the certificate allows several topics or none.
    package var onlyTopic: String? { allowed.count == 1 ? allowed[0] : nil }

    package func allows(_ topic: UnsafeRawBufferPointer) -> Bool {
        allowed.contains { topic.equals($0) }
    }
}

/// Encodes the subset of DER that certificate extensions need: one-byte tags and definite lengths.
/// - Source: ITU-T X.690, 8.1.
package enum DER {
    package enum Tag {
        package static let null: UInt8 = 0x05
        package static let utf8String: UInt8 = 0x0C
        package static let sequence: UInt8 = 0x30
    }

    /// Encodes one element: its tag, the length of its content, its content.
    package static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        guard content.count > 127 else { return [tag, UInt8(content.count)] + content }
        var length: [UInt8] = []
        var rest = content.count
        while rest > 0 {
            length.insert(UInt8(truncatingIfNeeded: rest), at: 0)
            rest >>= 8
        }
        return [tag, 0x80 | UInt8(length.count)] + length + content
    }
}

/// Reads the elements of a DER encoding one after another. To read elements inside of an element, create another reader.
///
/// Supports only one-byte tags and definite lengths, which certificate extensions use.
struct DERReader {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0
    private(set) var isBroken = false

    /// Creates a reader over `bytes`, which must outlive the reader.
    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    var isAtEnd: Bool { position == bytes.count }

    /// Returns the next element; nil at the end or after the first malformed element.
    mutating func next() -> (tag: UInt8, content: UnsafeRawBufferPointer)? {
        guard !isBroken, !isAtEnd else { return nil }
        guard let tag = byte(), tag & 0x1F != 0x1F, let length = length(), length <= bytes.count - position
        else {
            isBroken = true
            return nil
        }
        defer { position += length }
        return (tag, UnsafeRawBufferPointer(rebasing: bytes[position..<position + length]))
    }

    /// Returns the content of the next element if the element has the tag `tag`.
    mutating func next(_ tag: UInt8) -> UnsafeRawBufferPointer? {
        guard let element = next(), element.tag == tag else { return nil }
        return element.content
    }

    private mutating func byte() -> UInt8? {
        guard position < bytes.count else { return nil }
        defer { position += 1 }
        return bytes[position]
    }

    private mutating func length() -> Int? {
        guard let first = byte() else { return nil }
        guard first & 0x80 != 0 else { return Int(first) }
        let count = first & 0x7F
        guard (1...4).contains(count) else { return nil }
        var length = 0
        for _ in 0..<count {
            guard let next = byte() else { return nil }
            length = length << 8 | Int(next)
        }
        return length
    }
}
