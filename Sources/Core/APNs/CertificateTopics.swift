/// The object identifiers of the certificate extensions that name what an APNs certificate allows.
package enum AppleExtension {
    package static let sandbox = "1.2.840.113635.100.6.3.1"
    package static let production = "1.2.840.113635.100.6.3.2"
    package static let voip = "1.2.840.113635.100.6.3.4"
    package static let topics = "1.2.840.113635.100.6.3.6"
}

/// The topics that a client certificate may push to.
/// - Source: certificates that Apple issues: the subject attribute UID, and ``AppleExtension/topics``.
package struct CertificateTopics: Hashable, Sendable {
    /// The topics in the order of the extension, then the subject's if the extension has not named it.
    package let allowed: [String]
    /// The subject's UID.
    package let subjectTopic: String?

    /// - Parameters:
    ///   - subjectUID: the subject's attribute 0.9.2342.19200300.100.1.1.
    ///   - topicsExtension: the value of ``AppleExtension/topics``, if the certificate has one:
    ///     `SEQUENCE { UTF8String topic, SEQUENCE { UTF8String kind }, … }`. nil is returned if it is
    ///     malformed.
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

    /// The topic of a push that names none: only a certificate with one topic has it.
    package var onlyTopic: String? { allowed.count == 1 ? allowed[0] : nil }

    package func allows(_ topic: UnsafeRawBufferPointer) -> Bool {
        allowed.contains { topic.equals($0) }
    }
}
