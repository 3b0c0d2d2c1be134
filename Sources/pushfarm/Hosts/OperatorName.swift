import EventLoop

/// The operator, as pauses record him: `user@host`, one word.
@Loop enum OperatorName {
    static var current: String {
        let allowed = OperatorClient.issuer.unicodeScalars.filter { $0.value > 0x20 && $0.value != 0x7F }
        return allowed.isEmpty ? "unknown" : String(String.UnicodeScalarView(allowed.prefix(128)))
    }
}
