/// When a certificate is valid, in Unix seconds.
package struct Validity: Hashable, Sendable {
    package let notBefore: Int64
    package let notAfter: Int64

    package init(notBefore: Int64, notAfter: Int64) {
        self.notBefore = notBefore
        self.notAfter = notAfter
    }

    /// From an hour ago, for peers whose clock is behind.
    package static func days(_ days: Int64) -> Validity {
        let now = Platform.now
        return Validity(notBefore: now - 3600, notAfter: now + days * 86_400)
    }
}
